"""Executions, their attempts and ranges of slots without one, as commands show them."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.cli.context import CommandContext
from sempre.cli.fields import Field, to_json
from sempre.cli.times import format_duration, json_instant
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.results import result_in_words, shown_result
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, State
from sempre.ports.messages import Attempt

__all__ = [
    "ATTEMPT",
    "EXECUTION",
    "RANGE",
    "NumberedAttempt",
    "RangeOf",
    "execution_json",
    "has_ended",
    "seconds_of_run",
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


def seconds_of_run(row: Execution) -> float | None:
    """Return how long the latest attempt took; None before the execution has run and ended."""
    if row.started_at is None or row.finished_at is None or not has_ended(row):
        return None
    return max(0.0, (row.finished_at - row.started_at).total_seconds())


def execution_json(row: Execution, redact: Sequence[str] = ()) -> dict[str, object]:
    """Return an execution as `--json` shows it, with secrets and names in `redact` masked."""
    return to_json(EXECUTION, row, redact)


def shown_args(args: Mapping[str, Json], redact: Sequence[str]) -> str:
    """Return arguments as text, with secrets and names in `redact` masked; empty without any."""
    return json.dumps(redacted(dict(args), redact), ensure_ascii=False) if args else ""


def _names(row: Execution, redact: Sequence[str]) -> tuple[str, ...]:
    return (*redact, *row.snapshot.redact)


def _took(row: Execution) -> str:
    seconds = seconds_of_run(row)
    return "" if seconds is None else format_duration(seconds)


def _late(row: Execution) -> str:
    """Return how late the first start was; a retry is late by intention."""
    started = row.first_started_at
    if started is None or row.failures:
        return ""
    return format_duration(max(timedelta(0), started - row.due_at))


def _why(row: Execution, context: CommandContext) -> str:
    origin = f"{row.kind} by {row.actor}" if row.actor else str(row.kind)
    why = f"{origin}: {row.reason}" if row.reason else origin
    return redacted_text(why, _names(row, context.redact))


def _instant(
    of: Callable[[Execution], datetime | None],
) -> Callable[[Execution, CommandContext], str]:
    def text(row: Execution, context: CommandContext) -> str:
        instant = of(row)
        return context.shown(instant, row.snapshot.grid) if instant else ""

    return text


EXECUTION: tuple[Field[Execution], ...] = (
    Field(key="id", column="ID", label="id", value=lambda row, _: row.id, below=True),
    Field(
        key="schedule",
        column="NAME",
        value=lambda row, _: row.snapshot.name if row.schedule_id else None,
        text=lambda row, _: row.snapshot.name,
    ),
    Field(key="job", label="job", value=lambda row, _: row.snapshot.job),
    Field(key="kind", value=lambda row, _: str(row.kind)),
    Field(
        key="run_at",
        column="SLOT",
        label="slot",
        value=lambda row, _: json_instant(row.run_at),
        text=_instant(lambda row: row.run_at),
    ),
    Field(
        key="due_at",
        label="due",
        value=lambda row, _: json_instant(row.due_at),
        text=_instant(lambda row: row.due_at if row.due_at != row.run_at else None),
    ),
    Field(
        key="state",
        column="STATE",
        value=lambda row, _: str(row.state),
        text=lambda row, _: f"{row.state} (held)" if row.held_by else str(row.state),
    ),
    Field(
        key="started_at",
        label="started",
        value=lambda row, _: json_instant(row.started_at),
        text=_instant(lambda row: row.first_started_at),
    ),
    Field(
        key="finished_at",
        label="finished",
        value=lambda row, _: json_instant(row.finished_at),
        text=_instant(lambda row: row.finished_at),
    ),
    Field(column="LATE", text=lambda row, _: _late(row)),
    Field(
        key="seconds",
        column="TOOK",
        value=lambda row, _: seconds_of_run(row),
        text=lambda row, _: _took(row),
    ),
    Field(key="attempt", column="TRIES", label="tries", value=lambda row, _: row.attempt),
    Field(key="failures", value=lambda row, _: row.failures),
    Field(key="crashes", label="crashes", value=lambda row, _: row.crashes),
    Field(key="queue", label="queue", value=lambda row, _: row.snapshot.queue),
    Field(key="held_by", label="held by", value=lambda row, _: row.held_by or None),
    Field(key="actor", value=lambda row, _: row.actor),
    Field(
        key="reason",
        column="WHY",
        label="why",
        value=lambda row, redact: redacted_text(row.reason, _names(row, redact)),
        text=_why,
        below=True,
    ),
    Field(
        key="args",
        label="args",
        value=lambda row, redact: redacted(dict(row.snapshot.args), _names(row, redact)),
        text=lambda row, context: shown_args(row.snapshot.args, _names(row, context.redact)),
    ),
    Field(label="key", text=lambda row, _: row.key),
)

ATTEMPT: tuple[Field[NumberedAttempt], ...] = (
    Field(column="TRY", text=lambda each, _: str(each.number)),
    Field(
        key="started_at",
        column="STARTED",
        value=lambda each, _: json_instant(each.attempt.started_at),
        text=lambda each, context: context.shown(
            each.attempt.started_at, each.execution.snapshot.grid
        ),
    ),
    Field(
        key="finished_at",
        column="TOOK",
        value=lambda each, _: json_instant(each.attempt.finished_at),
        text=lambda each, _: format_duration(each.attempt.finished_at - each.attempt.started_at),
    ),
    Field(
        key="state",
        column="STATE",
        value=lambda each, _: str(each.attempt.state),
        text=lambda each, _: f"{each.attempt.state}{' (late)' if each.attempt.late else ''}",
    ),
    Field(key="late", value=lambda each, _: each.attempt.late),
    Field(
        key="result",
        value=lambda each, redact: shown_result(each.attempt.result, tuple(redact)),
    ),
    Field(
        key="error",
        column="RESULT",
        value=lambda each, redact: redacted_text(each.attempt.error, redact) or None,
        text=lambda each, context: (
            _last_line(each.attempt, context)
            or result_in_words(each.attempt.result, context.redact)
        ),
        below=True,
    ),
)

RANGE: tuple[Field[RangeOf], ...] = (
    Field(key="schedule", column="NAME", value=lambda each, _: each.schedule.name),
    Field(
        key="first",
        column="FROM",
        value=lambda each, _: json_instant(each.slots.first),
        text=lambda each, context: context.shown(each.slots.first, each.schedule.definition.grid),
    ),
    Field(
        key="last",
        column="TO",
        value=lambda each, _: json_instant(each.slots.last),
        text=lambda each, context: context.shown(each.slots.last, each.schedule.definition.grid),
    ),
    Field(key="count", column="SLOTS", value=lambda each, _: each.slots.count),
    Field(key="state", column="STATE", value=lambda each, _: str(each.slots.state)),
    Field(key="reason", column="WHY", value=lambda each, _: each.slots.reason, below=True),
)


def _last_line(attempt: Attempt, context: CommandContext) -> str:
    return redacted_text(attempt.error, context.redact).strip().rpartition("\n")[2]
