"""Printing: data on stdout, talk on stderr.

Columns for people, one JSON object for programs. Colours only on a terminal, and `rich` is
imported only there.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from sempre.errors import printable as escaped
from sempre.errors import printable_json

__all__ = ["VERSION", "Output", "plain_table", "printable", "talk"]

VERSION = 2
"""The version of every `--json` object; it changes when a field goes or changes its meaning."""

STYLES = {
    "*": "green",
    "ok": "green",
    "succeeded": "green",
    "healthy": "green",
    "x": "red",
    "!": "bold red",
    "failed": "red",
    "error": "bold red",
    "unhealthy": "bold red",
    "~": "yellow",
    "warning": "yellow",
    "running": "cyan",
    "=": "magenta",
    "paused": "magenta",
    "skipped": "dim",
    "superseded": "dim",
    "missed": "yellow",
    "cancelled": "yellow",
}


def talk(text: str) -> None:
    """Say something to the person at the terminal, beside the data."""
    click.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return a text without what would move a terminal's cursor or change its colours."""
    return escaped(text, keep="\n")


class Output:
    """Where a command's answer goes, and in which form.

    Attributes:
        as_json: whether one JSON object is wanted.
        utc: whether all times are wanted in UTC, whatever the zone of their schedule.
    """

    def __init__(self, *, as_json: bool = False, utc: bool = False) -> None:
        """Print as the options of a command say."""
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

    def lines(self, texts: Sequence[str]) -> None:
        """Print lines."""
        for text in texts:
            if _is_fancy():
                self._fancy_line(printable(text))
            else:
                click.echo(printable(text))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows under their headings; nothing but the headings if there are none."""
        cleaned = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
        if _is_fancy():
            self._fancy_table(columns, cleaned)
        else:
            for line in plain_table(columns, cleaned):
                click.echo(line)

    def _fancy_line(self, text: str) -> None:
        from rich.text import Text  # noqa: PLC0415 - only on a terminal

        _console().print(Text(text, style=_style(text)))

    def _fancy_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        from rich.table import Table  # noqa: PLC0415 - only on a terminal
        from rich.text import Text  # noqa: PLC0415 - as above

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell, style=_style(cell)) for cell in row))
        _console().print(table)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of columns, two spaces apart, without trailing blanks."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (columns, *rows)
    ]


def _is_fancy() -> bool:
    """Tell whether colours and tables are wanted: on a terminal, or where they are forced."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def _console() -> Any:  # noqa: ANN401 - rich is not imported here, so neither is its type
    from rich.console import Console  # noqa: PLC0415 - only on a terminal

    return Console(file=sys.stdout, force_terminal=True, highlight=False, soft_wrap=False)


def _style(text: str) -> str:
    words = text.split()
    return STYLES.get(words[0].rstrip(":,"), "") if words else ""
