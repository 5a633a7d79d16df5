"""Output: data on stdout, messages on stderr; columns for people, one JSON object for programs.

One layout serves terminals and pipes. Colour, and rows of two lines where the table is wider than
the terminal, appear on a terminal only.
"""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

import click

from sempre.errors import printable as escaped
from sempre.errors import printable_json

__all__ = ["VERSION", "Output", "inform", "printable", "table_lines"]

VERSION = 3
"""The version of every `--json` object; it changes when a field goes or changes its meaning."""

GAP = "  "
INDENT = "   "
LABEL_WIDTH = 12
COLOURS: Mapping[str, Mapping[str, Any]] = {
    word: style
    for words, style in (
        ("* ok succeeded healthy", {"fg": "green"}),
        ("x failed", {"fg": "red"}),
        ("! error unhealthy", {"fg": "red", "bold": True}),
        ("~ warning missed cancelled", {"fg": "yellow"}),
        ("running", {"fg": "cyan"}),
        ("= paused", {"fg": "magenta"}),
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
    """

    def __init__(self, *, as_json: bool = False, utc: bool = False) -> None:
        """Take the options --json and --utc of a command."""
        self.as_json = as_json
        self.utc = utc

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

    def facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Print names and values in two columns; facts without a value are left out."""
        self.lines(f"  {name:<{LABEL_WIDTH}} {text}" for name, text in facts if text)

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        below: Collection[str] = (),
    ) -> None:
        """Print rows under their headings; without rows, the headings alone.

        Where the table is wider than the terminal, the columns of the headings in `below` move to
        a second line of each row.
        """
        cleaned = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        for line in table_lines(columns, cleaned, below=below, width=width):
            _echo(line)


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    below: Collection[str] = (),
    width: int | None = None,
) -> Iterator[str]:
    """Yield rows as lines of columns, two spaces apart, without trailing blanks."""
    widths = [max(map(_width, cells)) for cells in zip(columns, *rows, strict=True)]
    is_wide = width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width
    moved = [column in below and is_wide for column in columns]
    for row in (columns, *rows):
        cells = zip(row, widths, moved, strict=True)
        yield GAP.join(
            _padded(cell, size) for cell, size, is_moved in cells if not is_moved
        ).rstrip()
        second = [cell for cell, is_moved in zip(row, moved, strict=True) if is_moved and cell]
        if second and row is not columns:
            yield INDENT + GAP.join(map(_coloured, second))


def _padded(cell: str, size: int) -> str:
    return _coloured(cell) + " " * (size - _width(cell))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


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
