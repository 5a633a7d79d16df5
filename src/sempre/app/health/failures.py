"""Failing work: the rules that decide which schedules and jobs are failing.

Pure. `sempre status`, `sempre doctor` and `sempre list` share these rules.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, takewhile

from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.errors import SempreError

__all__ = [
    "ALL_FAILED",
    "LOOK_BACK",
    "FailedJob",
    "Failing",
    "failed_jobs",
    "failing",
    "is_held",
    "is_overrunning",
    "is_quarantined",
    "one_line",
    "outcomes_to_read",
]

ALL_FAILED = 10
"""The number of last executions of a one-off job that make an error if all of them failed."""
LOOK_BACK = 20
"""The number of outcomes that are read at least, to find since when a schedule fails."""
LONGEST_LINE = 120
ITSELF = "sempre"
"""The actor of a pause that followed an unknown outcome."""


@dataclass(frozen=True)
class Failing:
    """A schedule whose last executions all failed.

    Attributes:
        name: the name of the schedule.
        since: when the first of the known failures in a row ended.
        is_longer: whether earlier outcomes were not read, so that it may fail since longer.
        count: the number of known failures in a row.
        error: the last error in one line, with secrets masked.
        execution_id: the last failure.
    """

    name: str
    since: datetime
    is_longer: bool
    count: int
    error: str
    execution_id: str


@dataclass(frozen=True)
class FailedJob:
    """A job with one-off executions that failed for good.

    Attributes:
        job: the name of the job.
        count: the number of failures, up to the limit of the query.
        error: the last error in one line, with secrets masked.
        execution_id: the last failure.
        oldest_of_last: the slot of the tenth last failure; None if there are fewer.
    """

    job: str
    count: int
    error: str
    execution_id: str
    oldest_of_last: datetime | None = None


def outcomes_to_read(schedules: Iterable[Schedule]) -> int:
    """Return how many outcomes decide about these schedules, and show since when they fail."""
    return max((each.definition.alert_after for each in schedules), default=0) + LOOK_BACK


def failing(
    schedule: Schedule, outcomes: Sequence[Execution], now: datetime, redact: Sequence[str] = ()
) -> Failing | None:
    """Return how a schedule is failing, from its last outcomes, newest first; None if it is not.

    A schedule that is disabled, paused, deleted or broken is not failing: an operator knows of it,
    or another problem is reported.
    """
    streak = list(takewhile(lambda row: row.state is State.FAILED, outcomes))
    is_stopped = schedule.deleted or bool(schedule.broken) or not schedule.allows_start(now)
    if is_stopped or len(streak) < schedule.definition.alert_after:
        return None
    first, last = streak[-1], streak[0]
    return Failing(
        schedule.name,
        since=first.finished_at or first.run_at,
        is_longer=len(streak) == len(outcomes) and len(streak) >= LOOK_BACK,
        count=len(streak),
        error=one_line(last.reason, (*redact, *last.snapshot.redact)),
        execution_id=last.id,
    )


def is_held(schedule: Schedule, now: datetime) -> bool:
    """Return whether Sempre itself paused a schedule, after a run with an unknown outcome."""
    pause = schedule.pause
    return pause is not None and pause.actor == ITSELF and pause.holds(now)


def failed_jobs(rows: Iterable[Execution], redact: Sequence[str] = ()) -> list[FailedJob]:
    """Return the jobs of one-off executions that failed, from the failures of each job."""
    one_off = sorted((row for row in rows if row.schedule_id is None), key=_job_of)
    groups = ((job, list(some)) for job, some in groupby(one_off, key=_job_of))
    return [_failed_job(job, some, redact) for job, some in groups]


def is_quarantined(row: Execution) -> bool:
    """Return whether an execution failed because it crashed its process three times."""
    return row.state is State.FAILED and row.reason.startswith(Reason.QUARANTINED)


def is_overrunning(row: Execution, now: datetime) -> bool:
    """Return whether a running slot has been running for longer than its schedule's interval."""
    grid = row.snapshot.grid
    if row.kind is not Kind.SCHEDULED or grid is None or row.started_at is None:
        return False
    try:
        following = grid.times(row.run_at, 1)
    except (SempreError, ValueError):
        return False
    return any(now - row.started_at > slot - row.run_at for slot in following)


def one_line(text: str, redact: Sequence[str] = ()) -> str:
    """Return an error in one short line, with secrets masked."""
    line = " ".join(redacted_text(text, redact).split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}..."


def _job_of(row: Execution) -> str:
    return row.snapshot.job


def _failed_job(job: str, rows: Sequence[Execution], redact: Sequence[str]) -> FailedJob:
    newest = max(rows, key=lambda row: (row.finished_at or row.run_at, row.id))
    slots = sorted((row.run_at for row in rows), reverse=True)
    oldest = slots[ALL_FAILED - 1] if len(slots) >= ALL_FAILED else None
    error = one_line(newest.reason, (*redact, *newest.snapshot.redact))
    return FailedJob(job, len(rows), error, newest.id, oldest)
