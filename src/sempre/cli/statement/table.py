"""The statement of a month as tables that fit a terminal of 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sempre.app.statement import MonthStatement
from sempre.app.statement.texts import (
    COLUMNS,
    OTHER,
    detail,
    other_runs,
    period_text,
    slots_text,
    unexplained_text,
)
from sempre.cli.context import CommandContext
from sempre.cli.layout import Column
from sempre.cli.output import inform
from sempre.domain.statement.account import ScheduleStatement, Totals
from sempre.domain.statement.outcomes import SlotEntry
from sempre.errors.wording import counted

__all__ = ["print_slots", "print_statement"]

AT_ONCE = 200
MOST_REASONS = 500
MOST_NOTES = 50
HEADINGS = ("DEMANDED", *COLUMNS, "OTHER")


def print_statement(context: CommandContext, statement: MonthStatement) -> None:
    """Print a row for each schedule, the total, the reasons, and notes."""
    context.output.line(f"statement of {period_text(statement)}")
    reasons: list[tuple[str, str, str, str]] = []
    notes: list[str] = []
    rows = _collected(statement, reasons, notes)
    _print_rows(context, [Column("SCHEDULE", flexible=12), *HEADINGS], rows, AT_ONCE)
    if reasons:
        context.output.line("")
        columns = [Column("SCHEDULE", flexible=12), Column("OUTCOME"), Column("SLOTS")]
        columns.append(Column("REASON", flexible=30))
        context.output.table(columns, reasons)
    _print_end(context, statement, [*statement.notes, *notes])


def _collected(
    statement: MonthStatement, reasons: list[tuple[str, str, str, str]], notes: list[str]
) -> Iterator[Sequence[str]]:
    """Yield the rows of the table; collect reasons and notes for the tables after it."""
    for found in statement:
        yield _row(found.name, found.totals)
        room = MOST_REASONS - len(reasons)
        reasons += islice(_reasons(found), max(room, 0))
        notes += [f"{found.name}: {note}" for note in found.notes]
        runs = other_runs(found.totals)
        notes += [f"{found.name}: besides its slots: {runs}."] if runs else []
        if found.totals.made_good:
            slots = counted(found.totals.made_good, "slot")
            notes.append(f"{found.name}: a backfill ran {slots} later.")
        del notes[MOST_NOTES:]
    yield _row("total", statement.totals)


def _reasons(found: ScheduleStatement) -> Iterator[tuple[str, str, str, str]]:
    for (outcome, reason), count in found.totals.reasons.items():
        yield found.name, str(outcome), f"{count:,}", reason


def _row(name: str, totals: Totals) -> list[str]:
    counts = [totals.demanded, *map(totals.count, COLUMNS.values()), totals.count(*OTHER)]
    cells = zip(HEADINGS, counts, strict=True)
    return [name, *(f"{count:,}".rjust(len(heading)) for heading, count in cells)]


def _print_rows(
    context: CommandContext,
    columns: Sequence[str | Column],
    rows: Iterable[Sequence[str]],
    at_once: int,
) -> None:
    """Print rows as they come, so that a store of any size is stated in bounded memory."""
    rest, is_continued = iter(rows), False
    while True:
        part = list(islice(rest, at_once))
        if part or not is_continued:
            context.output.table(columns, part, is_continued=is_continued)
        if len(part) < at_once:
            return
        is_continued = True


def _print_end(context: CommandContext, statement: MonthStatement, notes: Sequence[str]) -> None:
    if notes:
        context.output.line("")
        context.output.facts(("note", note) for note in notes[:MOST_NOTES])
    missing = unexplained_text(statement.totals)
    if missing:
        context.output.line(f"! {missing}.")
    inform(f"store {statement.store}; times: {statement.period.zone}")


def print_slots(context: CommandContext, statement: MonthStatement) -> None:
    """Print each slot with its outcome; consecutive slots without a row are one line."""
    zone = context.output.zone(statement.period.zone)

    def row(name: str, entry: SlotEntry) -> list[str]:
        slots = slots_text(entry, zone, statement.made_at)
        return [name, slots, f"{entry.count:,}", str(entry.outcome), detail(entry)]

    rows = (row(name, entry) for name, entry in statement.slots())
    columns = [Column("SCHEDULE", flexible=12), *map(Column, ("SLOT", "SLOTS", "OUTCOME"))]
    columns.append(Column("REASON", flexible=20, below=True))
    _print_rows(context, columns, rows, AT_ONCE)
    totals = statement.totals
    context.output.line("")
    parts = ", ".join(f"{count:,} {outcome}" for outcome, count in totals.outcomes.items())
    context.output.line(f"{counted(totals.demanded, 'slot')} demanded: {parts or 'none'}")
    _print_end(context, statement, statement.notes)
