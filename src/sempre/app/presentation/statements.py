"""Statements of a month as JSON values, for commands, pages and the API."""

from typing import Any

from sempre.app.statement import MonthStatement
from sempre.app.times import json_instant
from sempre.domain.execution import Execution
from sempre.domain.statement.account import Change, ScheduleStatement, Totals
from sempre.domain.statement.outcomes import Outcome, SlotEntry

__all__ = [
    "outcome_key",
    "schedule_statement_json",
    "slot_entry_json",
    "statement_head",
    "totals_json",
]


def statement_head(statement: MonthStatement) -> dict[str, Any]:
    """Return what a statement is about: the month, its zone and its bounds."""
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


def schedule_statement_json(found: ScheduleStatement) -> dict[str, Any]:
    """Return the statement of one schedule."""
    return {
        "name": found.name,
        "job": found.job,
        "when": found.when,
        "deleted": found.deleted,
        "totals": totals_json(found.totals),
        "exceptions": [slot_entry_json(entry) for entry in found.exceptions],
        "exceptions_left_out": found.exceptions_left_out,
        "runs": [_run(row) for row in found.runs],
        "revisions": None if found.revisions is None else list(found.revisions),
        "changes": [_change(each) for each in found.changes],
        "notes": list(found.notes),
    }


def totals_json(totals: Totals) -> dict[str, Any]:
    """Return the sums of slots by outcome and reason."""
    return {
        "demanded": totals.demanded,
        "outcomes": {outcome_key(each): totals.count(each) for each in Outcome},
        "reasons": [
            {"outcome": outcome_key(outcome), "reason": reason, "slots": count}
            for (outcome, reason), count in totals.reasons.items()
        ],
        "made_good": totals.made_good,
        "replaced": totals.replaced,
        "others": [
            {"kind": kind, "state": state, "count": count}
            for (kind, state), count in totals.others.items()
        ],
    }


def slot_entry_json(entry: SlotEntry) -> dict[str, Any]:
    """Return a slot, or a range of slots, with its outcome."""
    return {
        "first": json_instant(entry.first),
        "last": json_instant(entry.last),
        "slots": entry.count,
        "outcome": outcome_key(entry.outcome),
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


def outcome_key(outcome: Outcome) -> str:
    """Return the name of an outcome in JSON and CSV."""
    return outcome.value.replace(" ", "_")
