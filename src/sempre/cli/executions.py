"""Executions, their attempts and ranges of slots without one, as commands show them."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.cli.context import CommandContext
from sempre.cli.fields import Field, Fields
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.results import result_in_words, shown_result
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.ports.messages import Attempt

__all__ = [
    "ATTEMPT",
    "EXECUTION",
    "RANGE",
    "NumberedAttempt",
    "RangeOf",
    "happened_at",
    "has_ended",
    "shown_args",
]


class NumberedAttempt(NamedTuple):
    """An attempt at an execution, counted from 1."""

    number: int
    attempt: Attempt
    execution: Execution


class RangeOf(NamedTuple):
    """A range of slots that passed without an execution, and their schedule."""

    slots: SlotRange
    schedule: Schedule


def has_ended(row: Execution) -> bool:
    """Return whether the state of an execution is final."""
    return row.state not in LIVE and row.state is not State.RUNNING


def happened_at(row: Execution) -> datetime:
    """Return when something last happened to an execution: its end, its start or its due time."""
    if has_ended(row):
        return row.ended_at or row.run_at
    return row.started_at or row.due_at


def shown_args(args: Mapping[str, Json], redact: Sequence[str]) -> str:
    """Return arguments as text, with secrets and names in `redact` masked; empty without any."""
    return json.dumps(redacted(dict(args), redact), ensure_ascii=False) if args else ""


def _lateness(row: Execution) -> timedelta | None:
    """Return how late the first start was; a retry is late by intention."""
    started = row.first_started_at
    # The due time of a later try is after the first start.
    if started is None or row.failures or started < row.due_at:
        return None
    return started - row.due_at


def _state(row: Execution, _context: CommandContext) -> str:
    return f"{row.state} (held)" if row.held_by else str(row.state)


def _why(row: Execution, context: CommandContext) -> str:
    origin = f"{row.kind} by {row.actor}" if row.actor else str(row.kind)
    why = f"{origin}: {row.reason}" if row.reason else origin
    return redacted_text(why, (*context.redact, *row.snapshot.redact))


def _why_in_table(row: Execution, context: CommandContext) -> str:
    """Return why an execution is as it is; of a plain slot, only the reason of its state."""
    if row.kind is not Kind.SCHEDULED:
        return _why(row, context)
    return redacted_text(row.reason, (*context.redact, *row.snapshot.redact))


def _args(row: Execution, context: CommandContext) -> str:
    return shown_args(row.snapshot.args, (*context.redact, *row.snapshot.redact))


def _outcome(each: NumberedAttempt, context: CommandContext) -> str:
    """Return the last line of the error, or the result."""
    error = redacted_text(each.attempt.error, context.redact).strip().rpartition("\n")[2]
    return error or result_in_words(each.attempt.result, context.redact)


EXECUTION = Fields[Execution](
    Field("id", lambda row: row.id, column="ID", label="id", is_id=True),
    Field("schedule", lambda row: row.snapshot.name if row.schedule_id else None),
    Field("", lambda row: row.snapshot.name, column="NAME", flexible=14),
    Field("job", lambda row: row.snapshot.job, label="job"),
    Field("kind", lambda row: row.kind),
    Field("run_at", lambda row: row.run_at, column="SLOT", label="slot"),
    Field("due_at", lambda row: row.due_at),
    Field("", lambda row: row.due_at if row.due_at != row.run_at else None, label="due"),
    Field("state", lambda row: row.state, column="STATE", text=_state),
    Field("started_at", lambda row: row.started_at),
    Field("", lambda row: row.first_started_at, label="started"),
    Field("finished_at", lambda row: row.finished_at, label="finished"),
    Field("", _lateness, column="LATE", optional=True),
    Field("seconds", lambda row: row.took, column="TOOK"),
    Field("attempt", lambda row: row.attempt, column="TRIES", label="tries", optional=True),
    Field("failures", lambda row: row.failures),
    Field("crashes", lambda row: row.crashes, label="crashes"),
    Field("queue", lambda row: row.snapshot.queue, label="queue"),
    Field("held_by", lambda row: row.held_by or None, label="held by"),
    Field("actor", lambda row: row.actor),
    Field("reason", lambda row: row.reason, mask=redacted_text),
    Field("", lambda row: row.reason, column="WHY", text=_why_in_table, below=True, flexible=40),
    Field("", lambda row: row.reason, label="why", text=_why),
    Field("args", lambda row: dict(row.snapshot.args), mask=redacted, label="args", text=_args),
    Field("", lambda row: row.key, label="key"),
    grid=lambda row: row.snapshot.grid,
    redact=lambda row: row.snapshot.redact,
)

ATTEMPT = Fields[NumberedAttempt](
    Field("", lambda each: each.number, column="TRY"),
    Field("started_at", lambda each: each.attempt.started_at, column="STARTED"),
    Field("finished_at", lambda each: each.attempt.finished_at),
    Field("", lambda each: each.attempt.finished_at - each.attempt.started_at, column="TOOK"),
    Field("state", lambda each: each.attempt.state),
    Field("", lambda each: _attempt_state(each.attempt), column="STATE"),
    Field("late", lambda each: each.attempt.late),
    Field("result", lambda each: each.attempt.result, mask=lambda v, r: shown_result(v, tuple(r))),
    Field("error", lambda each: each.attempt.error, mask=lambda v, r: redacted_text(v, r) or None),
    Field("", lambda each: each.attempt.error, column="RESULT", text=_outcome, below=True),
    grid=lambda each: each.execution.snapshot.grid,
)

RANGE = Fields[RangeOf](
    Field("schedule", lambda each: each.schedule.name, column="NAME", flexible=14),
    Field("first", lambda each: each.slots.first, column="FROM"),
    Field("last", lambda each: each.slots.last, column="TO"),
    Field("count", lambda each: each.slots.count, column="SLOTS"),
    Field("state", lambda each: each.slots.state, column="STATE"),
    Field("reason", lambda each: each.slots.reason, column="WHY", below=True),
    grid=lambda each: each.schedule.definition.grid,
)


def _attempt_state(attempt: Attempt) -> str:
    return f"{attempt.state} (late)" if attempt.late else str(attempt.state)
