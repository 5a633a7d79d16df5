"""Fields: each fact of a thing is declared once, for `--json`, tables and single records."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Generic, TypeVar

from sempre.cli.context import CommandContext
from sempre.cli.layout import Column, unique_size
from sempre.cli.output import Output
from sempre.cli.times import format_duration, json_instant
from sempre.grids.grid import Grid

__all__ = ["Field", "Fields", "json_value"]

T = TypeVar("T")


@dataclass(frozen=True)
class Field(Generic[T]):
    """One fact of a thing.

    Attributes:
        key: its name in `--json`; empty if it is absent there.
        value: returns the value.
        column: its heading in a table; None if it is absent there.
        label: its name in the record of one thing; empty if it is absent there.
        mask: returns the value without the secrets under these names.
        text: returns the text for people; by default the value in words, nothing for None and 0.
        below: whether it moves to a second line in a narrow terminal.
        flexible: the width to which it is shortened in a narrow terminal; 0 if it is not.
        optional: whether it is left out in a narrow terminal.
        is_id: whether a terminal shows the shortest prefix that is unique in its table.
    """

    key: str
    value: Callable[[T], Any]
    _: KW_ONLY
    column: str | None = None
    label: str = ""
    mask: Callable[[Any, Sequence[str]], Any] | None = None
    text: Callable[[T, CommandContext], str] | None = None
    below: bool = False
    flexible: int = 0
    optional: bool = False
    is_id: bool = False

    def masked(self, thing: T, redact: Sequence[str]) -> object:
        """Return the value without secrets."""
        value = self.value(thing)
        return value if self.mask is None else self.mask(value, redact)


class Fields(Generic[T]):
    """All facts of a thing.

    Args:
        grid: returns the grid of a thing, in whose zone its times are shown.
        redact: returns the names whose values are masked in a thing, besides those of the settings.
    """

    def __init__(
        self,
        *fields: Field[T],
        grid: Callable[[T], Grid | None] = lambda _thing: None,
        redact: Callable[[T], Sequence[str]] = lambda _thing: (),
    ) -> None:
        """Take the fields in their order."""
        self._fields = fields
        self._grid = grid
        self._redact = redact

    def json(self, thing: T, redact: Sequence[str] = ()) -> dict[str, object]:
        """Return a thing as `--json` shows it."""
        names = (*redact, *self._redact(thing))
        return {
            each.key: json_value(each.masked(thing, names)) for each in self._fields if each.key
        }

    def record(self, thing: T, context: CommandContext) -> list[tuple[str, str]]:
        """Return the labels and texts of one thing, with times in one zone."""
        context.choose_zone(filter(None, [self._grid(thing)]))
        return [
            (each.label, self._text(each, thing, context)) for each in self._fields if each.label
        ]

    def print_table(
        self,
        context: CommandContext,
        things: Iterable[T],
        *,
        without: Collection[str] = (),
        further: Iterable[Sequence[str]] = (),
        is_continued: bool = False,
    ) -> None:
        """Print things as a table, without the columns of these headings, and further rows.

        All times are in one zone, which `CommandContext.choose_zone` chooses. A table that is
        continued has no headings, and the columns of the table before it.
        """
        things = list(things)
        context.choose_zone(filter(None, map(self._grid, things)))
        headings = {each.column: each for each in self._fields if each.column is not None}
        shown = {column: each for column, each in headings.items() if column not in without}
        rows = [[self._text(each, thing, context) for each in shown.values()] for thing in things]
        rows += [[*row, *[""] * (len(shown) - len(row))] for row in further]
        if context.output.width is not None:
            rows = _with_short_ids(rows, [each.is_id for each in shown.values()], context.output)
        columns = [
            Column(column, each.flexible, each.below, each.optional, each.is_id)
            for column, each in shown.items()
        ]
        context.output.table(columns, rows, is_continued=is_continued)

    def _text(self, field: Field[T], thing: T, context: CommandContext) -> str:
        if field.text is not None:
            return field.text(thing, context)
        value = field.masked(thing, (*context.redact, *self._redact(thing)))
        if isinstance(value, datetime):
            return context.shown_in_table(value)
        return format_duration(value) if isinstance(value, timedelta) else str(value or "")


def _with_short_ids(
    rows: list[list[str]], is_id: Sequence[bool], output: Output
) -> list[list[str]]:
    """Return rows whose ids are prefixes that are unique within their column."""
    for place, wanted in enumerate(is_id):
        if wanted:
            ids = [row[place] for row in rows]
            output.prefix_size = unique_size(ids, least=output.prefix_size)
            short = (each[: output.prefix_size].rstrip("-") for each in ids)
            rows = [
                [*row[:place], each, *row[place + 1 :]]
                for row, each in zip(rows, short, strict=True)
            ]
    return rows


def json_value(value: object) -> object:
    """Return a value as `--json` shows it: instants in ISO 8601, lengths of time in seconds."""
    if isinstance(value, datetime):
        return json_instant(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
