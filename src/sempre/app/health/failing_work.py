"""Reads which schedules and one-off jobs are failing."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from sempre.app.health.facts import MOST, RECENTLY
from sempre.app.health.failures import (
    FailedJob,
    Failing,
    failed_jobs,
    failing,
    is_overrunning,
    is_quarantined,
    outcomes_to_read,
)
from sempre.app.health.reader import PAGE, Reader
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.ports.messages import ExecutionQuery, Session

__all__ = ["failed_last", "failing_schedules", "read_failures"]

ONE_OFF = frozenset({Kind.ENQUEUED, Kind.DERIVED})


def read_failures(
    reader: Reader, schedules: Sequence[Schedule], alive: Sequence[Session]
) -> dict[str, Any]:
    """Return the facts about failures."""
    redact = reader.settings.redact
    since = reader.now - RECENTLY
    rows = reader.read(reader.store.failures(since=since, limit=MOST))
    jobs = failed_jobs(rows, redact)
    return {
        "failing": list(islice(failing_schedules(reader, schedules), MOST)),
        "overrunning": _overrunning(reader, alive),
        "failed_jobs": jobs,
        "hopeless_jobs": [each.job for each in jobs if _is_hopeless(reader, each)],
        "quarantined": [row for row in rows if is_quarantined(row)],
    }


def failing_schedules(reader: Reader, schedules: Sequence[Schedule]) -> Iterator[Failing]:
    """Yield the failing schedules among these, which are all schedules of the store, by name.

    The store finds those whose last outcome is a failure; only their outcomes are read.
    """
    names = set(failed_last(reader))
    suspects = iter([each for each in schedules if each.name in names])
    while some := list(islice(suspects, MOST)):
        ids = [each.id for each in some]
        outcomes = reader.read(reader.store.outcomes(ids, limit=outcomes_to_read(some)))
        found = (
            failing(each, outcomes.get(each.id, ()), reader.now, reader.settings.redact)
            for each in some
        )
        yield from (each for each in found if each)


def failed_last(reader: Reader) -> Iterator[str]:
    """Yield the names of schedules whose last outcome is a failure."""
    after = ""
    while True:
        stretch = reader.read(reader.store.failing(after=after, limit=PAGE))
        yield from stretch.suspect
        after = stretch.last
        if stretch.count < PAGE:
            return


def _is_hopeless(reader: Reader, failed: FailedJob) -> bool:
    """Return whether the last ten one-off executions of a job that ended all failed."""
    if failed.oldest_of_last is None:
        return False
    query = ExecutionQuery(
        job=failed.job,
        states=frozenset({State.SUCCEEDED}),
        kinds=ONE_OFF,
        since=failed.oldest_of_last,
        until=reader.now,
        limit=1,
    )
    return not reader.read(reader.store.executions(query)).items


def _overrunning(reader: Reader, alive: Sequence[Session]) -> list[str]:
    """Return the names of schedules that have been running for longer than their interval."""
    readings = (reader.store.running(each.id) for each in alive[:MOST])
    rows = [row for reading in readings for row in reader.read(reading)]
    return sorted({row.snapshot.name for row in rows if is_overrunning(row, reader.now)})
