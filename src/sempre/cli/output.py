"""Output: data on stdout, messages on stderr; columns for people, one JSON object for programs.

One layout serves terminals and pipes. A terminal also gets colour, short ids, and tables that fit
its width: long columns move to a second line, and long texts end in an ellipsis.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import click

from sempre.app.presentation.json_version import JSON_VERSION
from sempre.cli.layout import (
    GAP,
    LEAST,
    Column,
    arranged,
    fitted_widths,
    natural_widths,
    shortened,
    text_width,
)
from sempre.errors import printable as escaped
from sempre.errors import printable_json

__all__ = ["NO_BREAK", "VERSION", "Output", "inform", "printable", "table_lines"]

VERSION = JSON_VERSION
"""The version of every `--json` object; it changes when a field goes or changes its meaning."""

INDENT = "   "
LABEL_WIDTH = 12
NO_BREAK = "\N{NO-BREAK SPACE}"
COLOURS: Mapping[str, Mapping[str, Any]] = {
    word: style
    for words, style in (
        ("* ok succeeded healthy", {"fg": "green"}),
        ("x failed", {"fg": "red"}),
        ("! error unhealthy", {"fg": "red", "bold": True}),
        ("~ warning missed cancelled", {"fg": "yellow"}),
        ("running", {"fg": "cyan"}),
        ("= # + paused stopped draining", {"fg": "magenta"}),
        ("skipped superseded", {"dim": True}),
    )
    for word in words.split()
}
"""The colour of a line or cell, by its first word."""


def inform(text: str) -> None:
    """Print a message for the person at the terminal on stderr, apart from the data."""
    click.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return a text without characters that move a terminal's cursor or change its colours."""
    return escaped(text, keep="\n")


class Output:
    """Prints the answer of a command.

    Attributes:
        as_json: whether the answer is one JSON object.
        utc: whether all times are shown in UTC, in place of the zone of their schedule.
        wide: whether a terminal gets full ids and tables of any width, as a pipe does.
        table_zone: the time zone of all tables of this command, once one was printed.
        has_times: whether a table has shown a time in that zone.
        prefix_size: how much of an id a terminal shows; it grows where ids begin alike.
    """

    def __init__(self, *, as_json: bool = False, utc: bool = False, wide: bool = False) -> None:
        """Take the options --json, --utc and --wide of a command."""
        self.as_json = as_json
        self.utc = utc
        self.wide = wide
        self.table_zone = ""
        self.has_times = False
        self.prefix_size = LEAST
        self._widths: Sequence[int] = ()

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads the answer: a pipe gets full ids and labelled times."""
        return sys.stdout.isatty()

    @property
    def width(self) -> int | None:
        """The width that tables must fit; None for a pipe and with --wide."""
        if self.wide or not self.is_terminal:
            return None
        return shutil.get_terminal_size().columns

    def zone(self, name: str) -> str:
        """Return the zone to show times in, for a schedule of this zone."""
        return "UTC" if self.utc else name

    def json(self, answer: Mapping[str, Any]) -> None:
        """Print the one object of `--json`."""
        click.echo(printable_json({"v": VERSION, **answer}))

    def line(self, text: str) -> None:
        """Print a line; its first word decides its colour on a terminal."""
        self.lines([text])

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines."""
        for text in texts:
            _echo(_coloured(printable(text)))

    def plain(self, texts: Iterable[str]) -> None:
        """Print lines that a job wrote, without colour."""
        for text in texts:
            click.echo(printable(text))

    def facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Print names and values in two columns; facts without a value are left out."""
        for name, text in facts:
            if text:
                self._fact(name, text)

    def _fact(self, name: str, text: str) -> None:
        """Print one fact; a long text is continued below its beginning.

        A no-break space keeps words together, and is printed as a space.
        """
        room = None if self.width is None else self.width - LABEL_WIDTH - 3
        parts = [text] if room is None else textwrap.wrap(text, max(room, LABEL_WIDTH)) or [text]
        labels = [name, *[""] * (len(parts) - 1)]
        self.lines(
            f"  {label:<{LABEL_WIDTH}} {part.replace(NO_BREAK, ' ')}"
            for label, part in zip(labels, parts, strict=True)
        )

    def table(
        self,
        columns: Sequence[str | Column],
        rows: Sequence[Sequence[str]],
        *,
        is_continued: bool = False,
    ) -> None:
        """Print rows under their headings; without rows, the headings alone.

        A table that is continued has no headings, and columns at least as wide as before.
        """
        cleaned = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
        known = [Column(each) if isinstance(each, str) else each for each in columns]
        least = self._widths if is_continued else ()
        self._widths = natural_widths([each.heading for each in known], cleaned, least)
        lines = table_lines(known, cleaned, width=self.width, least=least)
        for line in islice(lines, int(is_continued), None):
            _echo(line)


def table_lines(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    least: Sequence[int] = (),
) -> Iterator[str]:
    """Yield rows as lines of columns, two spaces apart, without trailing blanks."""
    headings = [each.heading for each in columns]
    natural = natural_widths(headings, rows, least)
    widths, below = arranged(columns, natural, width)
    second = _second_widths([natural[place] for place in below], width)
    for row in (headings, *rows):
        yield _line(row, widths)
        if row is not headings and any(row[place] for place in below):
            yield INDENT + _line(row, dict(zip(below, second, strict=True)))


def _second_widths(widths: Sequence[int], width: int | None) -> Sequence[int]:
    """Return the widths of the columns of second lines; the widest are shortened to fit."""
    if width is None:
        return widths
    return fitted_widths(widths, [LEAST] * len(widths), width - len(INDENT))


def _line(row: Sequence[str], widths: Mapping[int, int]) -> str:
    return GAP.join(_padded(row[place], size) for place, size in widths.items()).rstrip()


def _padded(cell: str, size: int) -> str:
    text = shortened(cell, size)
    return _coloured(text) + " " * (size - text_width(text))


def _coloured(text: str) -> str:
    words = text.split(maxsplit=1)
    colour = COLOURS.get(words[0].rstrip(":,")) if words and _has_colour() else None
    return click.style(text, **colour) if colour else text


def _echo(line: str) -> None:
    click.echo(line, color=_has_colour())


def _has_colour() -> bool:
    """Return whether colour is wanted: on a terminal, or where FORCE_COLOR is set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
