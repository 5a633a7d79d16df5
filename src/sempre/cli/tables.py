"""Tables and records of things in a terminal, from the fields that declare the things."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sempre.app.presentation.fields import Field, Fields
from sempre.app.times import format_duration
from sempre.cli.context import CommandContext
from sempre.cli.layout import Column, unique_size
from sempre.cli.output import Output

__all__ = ["print_table", "record_of"]

T = TypeVar("T")


def record_of(context: CommandContext, fields: Fields[T], thing: T) -> list[tuple[str, str]]:
    """Return the labels and texts of one thing, with times in one zone."""
    context.choose_zone(filter(None, [fields.grid(thing)]))
    return [
        (each.label, _text(context, fields, each, thing)) for each in fields.fields if each.label
    ]


def print_table(
    context: CommandContext,
    fields: Fields[T],
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
    context.choose_zone(filter(None, map(fields.grid, things)))
    headings = {each.column: each for each in fields.fields if each.column is not None}
    shown = {column: each for column, each in headings.items() if column not in without}
    rows = [[_text(context, fields, each, thing) for each in shown.values()] for thing in things]
    rows += [[*row, *[""] * (len(shown) - len(row))] for row in further]
    if context.output.width is not None:
        rows = _with_short_ids(rows, [each.is_id for each in shown.values()], context.output)
    columns = [
        Column(column, each.flexible, each.below, each.optional, each.is_id)
        for column, each in shown.items()
    ]
    context.output.table(columns, rows, is_continued=is_continued)


def _text(context: CommandContext, fields: Fields[T], field: Field[T], thing: T) -> str:
    if field.text is not None:
        return field.text(thing, context)
    value = field.masked(thing, (*context.redact, *fields.redact(thing)))
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
