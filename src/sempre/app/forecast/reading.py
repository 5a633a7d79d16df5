"""Reads the recurrences of a store: schedules that will run, and how long their runs took.

Schedules and outcomes are read in pages. Daily counts of purged rows are read for a bounded number
of schedules: the store answers for one schedule at a time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sempre.app.schedules.search import find_schedules
from sempre.domain.execution import Execution
from sempre.domain.forecast import Durations, Recurrence, durations_of
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch, stopping_schedule
from sempre.engine.core import Engine
from sempre.ports.messages import Rollup

__all__ = ["Chosen", "read_recurrences"]

PAGE = 500
OUTCOMES = 30
OUTCOMES_OF_JOB = 300
MOST_ROLLUPS = 200


@dataclass(frozen=True)
class Chosen:
    """Which schedules a forecast counts; None for all."""

    tag: str | None = None
    job: str | None = None
    queue: str | None = None


def read_recurrences(engine: Engine, chosen: Chosen) -> list[Recurrence]:
    """Return the schedules of a store that will start runs, with their durations."""
    switches = engine.read(engine.store.switches())
    schedules = (
        each
        for each in find_schedules(engine, tag=chosen.tag, job=chosen.job)
        if chosen.queue in (None, each.definition.queue)
    )
    found: list[tuple[Schedule, Durations | None]] = []
    by_job: dict[str, list[timedelta]] = {}
    while page := list(islice(schedules, PAGE)):
        some = [each for each in page if _may_run(each, switches)]
        outcomes = engine.read(engine.store.outcomes([each.id for each in some], limit=OUTCOMES))
        for each in some:
            lengths = _lengths(outcomes.get(each.id, ()))
            found.append((each, durations_of(lengths, "schedule")))
            of_job = by_job.setdefault(each.definition.job, [])
            of_job += lengths[: OUTCOMES_OF_JOB - len(of_job)]
    counted = _daily_counts(engine, [each for each, durations in found if durations is None])
    jobs = {name: durations_of(lengths, "job") for name, lengths in by_job.items()}
    now = engine.time.now()
    return [
        _recurrence(
            each,
            durations or counted.get(each.id) or jobs[each.definition.job] or Durations(),
            switches,
            now,
        )
        for each, durations in found
    ]


def _may_run(schedule: Schedule, switches: Sequence[Switch]) -> bool:
    """Return whether a schedule has slots to come, as planning decides."""
    # Maintenance starts a schedule that has not begun yet.
    wants = schedule.wants_next_row or (not schedule.started and schedule.audit == "needs repair")
    stop = stopping_schedule(switches, schedule)
    is_off = stop is not None and stop.until is None
    return wants and not (schedule.ended or schedule.broken or is_off)


def _lengths(outcomes: Iterable[Execution]) -> list[timedelta]:
    return [row.took for row in outcomes if row.took is not None]


def _daily_counts(engine: Engine, schedules: Sequence[Schedule]) -> dict[str, Durations]:
    """Return the average durations of purged runs, by schedule."""
    found: dict[str, Durations] = {}
    for each in schedules[:MOST_ROLLUPS]:
        durations = _average(engine.read(engine.store.rollups(each.id)))
        if durations is not None:
            found[each.id] = durations
    return found


def _average(rollups: list[Rollup]) -> Durations | None:
    ran = [each for each in rollups if each.state in (State.SUCCEEDED, State.FAILED)]
    count = sum(each.count for each in ran)
    if not count:
        return None
    average = timedelta(seconds=sum(each.seconds for each in ran) / count)
    return Durations(average, average, "daily counts", count)


def _recurrence(
    schedule: Schedule, durations: Durations, switches: Sequence[Switch], now: datetime
) -> Recurrence:
    declared, stop = schedule.definition, stopping_schedule(switches, schedule)
    begins = [
        *([schedule.pause.until] if schedule.pause and schedule.pause.until else []),
        *([stop.until] if stop is not None and stop.until else []),
    ]
    # Slots up to the cursor are decided; runs of earlier slots may still be in flight.
    since = max((each for each in begins if each > now), default=None)
    left = None if declared.limit is None else max(0, declared.limit - schedule.starts)
    if left is not None:
        since = max(since or now, now)
    return Recurrence(
        schedule.name,
        declared.grid,
        durations,
        jitter=declared.jitter,
        overlap=declared.overlap,
        since=since,
        until=declared.until,
        left=left,
        cursor=schedule.cursor,
    )
