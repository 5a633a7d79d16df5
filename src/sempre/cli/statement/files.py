"""The statement of a month as CSV and as JSON, written as it is read."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import click

from sempre.app.presentation.statements import (
    outcome_key,
    schedule_statement_json,
    slot_entry_json,
    statement_head,
    totals_json,
)
from sempre.app.statement import MonthStatement
from sempre.cli.output import VERSION
from sempre.domain.statement.account import Totals
from sempre.domain.statement.outcomes import Outcome
from sempre.domain.states import Kind
from sempre.errors import printable_json

__all__ = ["print_csv", "print_json"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
SLOT_FIELDS = ("schedule", "first", "last", "slots", "outcome", "reason")
RUN_FIELDS = ("execution", "started_at", "late_seconds", "made_good")


def print_csv(statement: MonthStatement, *, slots: bool) -> None:
    """Print a row for each schedule, or for each slot."""
    if slots:
        _print_row([*SLOT_FIELDS, *RUN_FIELDS])
        for name, entry in statement.slots():
            _print_row([name, *slot_entry_json(entry).values()])
        return
    kinds = [str(kind) for kind in Kind if kind is not Kind.SCHEDULED]
    outcomes = [outcome_key(each) for each in Outcome]
    _print_row(["month", "zone", "schedule", "job", "demanded", *outcomes, "made_good", *kinds])
    for found in statement:
        totals = found.totals
        counts = [totals.count(each) for each in Outcome]
        others = [_of_kind(totals, kind) for kind in Kind if kind is not Kind.SCHEDULED]
        head = [statement.period.month, statement.period.zone, found.name, found.job]
        _print_row([*head, totals.demanded, *counts, totals.made_good, *others])


def _of_kind(totals: Totals, kind: Kind) -> int:
    return sum(count for (each, _), count in totals.others.items() if each is kind)


def _print_row(cells: list[Any]) -> None:
    """Print one line; a cell that a spreadsheet would take for a formula begins with a quote."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(map(_cell, cells))
    click.echo(line.getvalue())


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(FORMULAS):
        return f"'{value}"
    return "" if value is None else value


def print_json(statement: MonthStatement, *, slots: bool) -> None:
    """Print the one object of `--json`, piece by piece."""
    click.echo(f'{{"v": {VERSION}, "statement": {{', nl=False)
    head = statement_head(statement)
    for key, value in head.items():
        click.echo(f"{printable_json(key)}: {printable_json(value)}, ", nl=False)
    name = "slots" if slots else "schedules"
    items = _slot_items(statement) if slots else map(schedule_statement_json, statement)
    click.echo(f'"{name}": [', nl=False)
    for number, item in enumerate(items):
        click.echo((", " if number else "") + printable_json(item), nl=False)
    totals, notes = printable_json(totals_json(statement.totals)), printable_json(statement.notes)
    click.echo(f'], "totals": {totals}, "notes": {notes}}}}}')


def _slot_items(statement: MonthStatement) -> Iterator[dict[str, Any]]:
    for name, entry in statement.slots():
        yield {"schedule": name, **slot_entry_json(entry)}
