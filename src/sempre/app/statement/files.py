"""The statement of a month as CSV and as JSON, in parts that follow the reading of the store."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from sempre.app.presentation.json_version import JSON_VERSION
from sempre.app.presentation.statements import (
    outcome_key,
    schedule_statement_json,
    slot_entry_json,
    statement_head,
    totals_json,
)
from sempre.app.statement.month import MonthStatement
from sempre.domain.statement.account import Totals
from sempre.domain.statement.outcomes import Outcome
from sempre.domain.states import Kind
from sempre.errors import printable_json

__all__ = ["csv_lines", "json_parts"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
SLOT_FIELDS = ("schedule", "first", "last", "slots", "outcome", "reason")
RUN_FIELDS = ("execution", "started_at", "late_seconds", "made_good")


def csv_lines(statement: MonthStatement, *, slots: bool) -> Iterator[str]:
    """Yield the headings, then a line for each schedule, or for each slot."""
    if slots:
        yield _line([*SLOT_FIELDS, *RUN_FIELDS])
        for name, entry in statement.slots():
            yield _line([name, *slot_entry_json(entry).values()])
        return
    kinds = [str(kind) for kind in Kind if kind is not Kind.SCHEDULED]
    outcomes = [outcome_key(each) for each in Outcome]
    yield _line(["month", "zone", "schedule", "job", "demanded", *outcomes, "made_good", *kinds])
    for found in statement:
        totals = found.totals
        counts = [totals.count(each) for each in Outcome]
        others = [_of_kind(totals, kind) for kind in Kind if kind is not Kind.SCHEDULED]
        head = [statement.period.month, statement.period.zone, found.name, found.job]
        yield _line([*head, totals.demanded, *counts, totals.made_good, *others])


def _of_kind(totals: Totals, kind: Kind) -> int:
    return sum(count for (each, _), count in totals.others.items() if each is kind)


def _line(cells: list[Any]) -> str:
    """Return one line; a cell that a spreadsheet would take for a formula begins with a quote."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(_cell, cells))
    return line.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(FORMULAS):
        return f"'{value}"
    return "" if value is None else value


def json_parts(statement: MonthStatement, *, slots: bool) -> Iterator[str]:
    """Yield the one object of `--json`, piece by piece."""
    yield f'{{"v": {JSON_VERSION}, "statement": {{'
    for key, value in statement_head(statement).items():
        yield f"{printable_json(key)}: {printable_json(value)}, "
    name = "slots" if slots else "schedules"
    items = _slot_items(statement) if slots else map(schedule_statement_json, statement)
    yield f'"{name}": ['
    for number, item in enumerate(items):
        yield (", " if number else "") + printable_json(item)
    totals, notes = printable_json(totals_json(statement.totals)), printable_json(statement.notes)
    yield f'], "totals": {totals}, "notes": {notes}}}}}\n'


def _slot_items(statement: MonthStatement) -> Iterator[dict[str, Any]]:
    for name, entry in statement.slots():
        yield {"schedule": name, **slot_entry_json(entry)}
