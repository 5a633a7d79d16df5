"""Outcomes: what became of a slot, decided from its row, its range or a daily total.

Each slot has one outcome. A run that began late and was retried counts as retried.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.lateness import startable_at
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.errors.wording import counted

__all__ = ["RAN", "Outcome", "SlotEntry", "entry_of_range", "entry_of_row", "outcome_of_state"]


class Outcome(StrEnum):
    """What became of a slot that a grid demanded."""

    ON_TIME = "on time"
    """Succeeded at the first attempt, and began within the tolerance."""
    LATE = "late"
    """Succeeded at the first attempt, and began after the tolerance."""
    RETRIED = "retried"
    """Succeeded after failures, or after an operator retried the execution."""
    RAN = "ran"
    """Succeeded; the execution is purged, so whether it was on time is unknown."""
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSED = "missed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    """Given up when the schedule was edited."""
    RUNNING = "running"
    WAITING = "waiting"
    PURGED = "purged"
    """Known only as a part of a daily total that does not have the outcome of the slot."""
    UNEXPLAINED = "unexplained"
    """Demanded, and without any record."""


RAN = frozenset({Outcome.ON_TIME, Outcome.LATE, Outcome.RETRIED, Outcome.RAN})
"""The outcomes of a slot that succeeded."""

_BY_STATE = {
    State.SUCCEEDED: Outcome.RAN,
    State.FAILED: Outcome.FAILED,
    State.SKIPPED: Outcome.SKIPPED,
    State.MISSED: Outcome.MISSED,
    State.CANCELLED: Outcome.CANCELLED,
    State.SUPERSEDED: Outcome.SUPERSEDED,
    State.RUNNING: Outcome.RUNNING,
}


def outcome_of_state(state: State) -> Outcome:
    """Return the outcome that follows from a state alone."""
    return _BY_STATE.get(state, Outcome.WAITING)


@dataclass(frozen=True, kw_only=True)
class SlotEntry:
    """The outcome of one slot, or of consecutive slots with one outcome.

    Attributes:
        first: the first slot; of a daily total, a bound of its slots.
        last: the last slot; equal to `first` for one slot.
        count: the number of slots.
        outcome: what became of them.
        reason: why they did not run on time.
        execution_id: the execution of one slot, if its row is on record.
        started_at: when that execution first started.
        late_by: how long after its due time the execution started.
        made_good: how many of the slots a backfill ran later.
    """

    first: datetime
    last: datetime
    count: int
    outcome: Outcome
    reason: str = ""
    execution_id: str = ""
    started_at: datetime | None = None
    late_by: timedelta | None = None
    made_good: int = 0


def entry_of_range(passed: SlotRange) -> SlotEntry:
    """Return the outcome of slots that passed without a row."""
    return SlotEntry(
        first=passed.first,
        last=passed.last,
        count=passed.count,
        outcome=outcome_of_state(passed.state),
        reason=passed.reason,
    )


def entry_of_row(
    row: Execution, others: Iterable[Execution], *, tolerance: timedelta, late: timedelta
) -> SlotEntry:
    """Return the outcome of the slot of a row.

    Args:
        row: an execution of kind scheduled that is not superseded.
        others: executions of the schedule near it: time spent waiting for their runs is not late.
        tolerance: of the schedule, which decides whether the row waited for another run.
        late: the lateness from which a run counts as late.
    """
    late_by = _lateness(row, others, tolerance)
    outcome, reason = outcome_of_state(row.state), row.reason
    if row.state is State.SUCCEEDED:
        outcome, reason = _success(row, late_by, late)
    elif outcome is Outcome.WAITING:
        reason = f"held by {row.held_by}" if row.held_by else row.reason
    return SlotEntry(
        first=row.run_at,
        last=row.run_at,
        count=1,
        outcome=outcome,
        reason=reason,
        execution_id=row.id,
        started_at=row.first_started_at,
        late_by=late_by,
    )


def _success(row: Execution, late_by: timedelta | None, late: timedelta) -> tuple[Outcome, str]:
    if row.retried_at is not None:
        return Outcome.RETRIED, "retried by an operator"
    failures = row.failures + row.crashes
    if failures:
        return Outcome.RETRIED, f"after {counted(failures, 'failure')}"
    if late_by is not None and late_by > late:
        return Outcome.LATE, "started late"
    return Outcome.ON_TIME, ""


def _lateness(
    row: Execution, others: Iterable[Execution], tolerance: timedelta
) -> timedelta | None:
    """Return the time from when an execution could start to its first start; None without one."""
    started = row.first_started_at
    if started is None:
        return None
    # A retry moves the due time. The first due time was the slot, and jitter after it.
    due = row.due_at if row.due_at <= started else min(started, row.run_at + row.snapshot.jitter)
    late_by = started - due
    if late_by <= tolerance or row.snapshot.overlap != "wait":
        return max(late_by, timedelta(0))
    before = [each for each in others if _ran_before(each, row, started)]
    # A row that was created late, after an outage, was due at its slot all the same.
    begun = copy_with(row, state=State.RUNNING, due_at=due, created_at=min(row.created_at, due))
    return max(started - startable_at(begun, before, tolerance), timedelta(0))


def _ran_before(other: Execution, row: Execution, started: datetime) -> bool:
    return other.id != row.id and other.started_at is not None and other.started_at < started
