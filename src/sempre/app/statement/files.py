"""The statement of a month as CSV and as JSON, in parts that follow the reading of the store."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from sempre.app.presentation.json_version import JSON_VERSION
from sempre.app.statement.month import MonthStatement
from sempre.app.times import json_instant
from sempre.domain.execution import Execution
from sempre.domain.statement.account import Change, ScheduleStatement, Totals
from sempre.domain.statement.outcomes import Outcome, SlotEntry
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
            yield _line([name, *_slot(entry).values()])
        return
    kinds = [str(kind) for kind in Kind if kind is not Kind.SCHEDULED]
    outcomes = [_key(each) for each in Outcome]
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
    for key, value in _head(statement).items():
        yield f"{printable_json(key)}: {printable_json(value)}, "
    name = "slots" if slots else "schedules"
    items = _slot_items(statement) if slots else map(_schedule, statement)
    yield f'"{name}": ['
    for number, item in enumerate(items):
        yield (", " if number else "") + printable_json(item)
    totals, notes = printable_json(_totals(statement.totals)), printable_json(statement.notes)
    yield f'], "totals": {totals}, "notes": {notes}}}}}\n'


def _head(statement: MonthStatement) -> dict[str, Any]:
    period, late = statement.period, statement.late
    return {
        "month": period.month,
        "zone": period.zone,
        "start": json_instant(period.start),
        "end": json_instant(period.end),
        "made_at": json_instant(statement.made_at),
        "store": statement.store,
        "late_seconds": None if late is None else late.total_seconds(),
    }


def _slot_items(statement: MonthStatement) -> Iterator[dict[str, Any]]:
    for name, entry in statement.slots():
        yield {"schedule": name, **_slot(entry)}


def _schedule(found: ScheduleStatement) -> dict[str, Any]:
    return {
        "name": found.name,
        "job": found.job,
        "when": found.when,
        "deleted": found.deleted,
        "totals": _totals(found.totals),
        "exceptions": [_slot(entry) for entry in found.exceptions],
        "exceptions_left_out": found.exceptions_left_out,
        "runs": [_run(row) for row in found.runs],
        "revisions": None if found.revisions is None else list(found.revisions),
        "changes": [_change(each) for each in found.changes],
        "notes": list(found.notes),
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        "demanded": totals.demanded,
        "outcomes": {_key(each): totals.count(each) for each in Outcome},
        "reasons": [
            {"outcome": _key(outcome), "reason": reason, "slots": count}
            for (outcome, reason), count in totals.reasons.items()
        ],
        "made_good": totals.made_good,
        "replaced": totals.replaced,
        "others": [
            {"kind": kind, "state": state, "count": count}
            for (kind, state), count in totals.others.items()
        ],
    }


def _slot(entry: SlotEntry) -> dict[str, Any]:
    return {
        "first": json_instant(entry.first),
        "last": json_instant(entry.last),
        "slots": entry.count,
        "outcome": _key(entry.outcome),
        "reason": entry.reason,
        "execution": entry.execution_id or None,
        "started_at": json_instant(entry.started_at),
        "late_seconds": None if entry.late_by is None else entry.late_by.total_seconds(),
        "made_good": entry.made_good,
    }


def _run(row: Execution) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "slot": json_instant(row.run_at),
        "state": row.state,
        "started_at": json_instant(row.first_started_at),
        "finished_at": json_instant(row.finished_at),
        "actor": row.actor,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "at": json_instant(change.at),
        "verb": change.verb,
        "actor": change.actor,
        "note": change.note,
        "fields": list(change.fields),
    }


def _key(outcome: Outcome) -> str:
    return outcome.value.replace(" ", "_")
