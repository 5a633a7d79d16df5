"""The health of a store as pages show it: one reading that scans all schedules, kept and shared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nsmallest

from sempre.app.health.checks import problems_of
from sempre.app.health.facts import Facts
from sempre.app.health.problems import Problem
from sempre.app.health.reader import Reader
from sempre.app.health.reading import facts_among
from sempre.app.presentation.fleet import QueueBacklog, read_queues, read_workers
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.engine.core import Engine
from sempre.ports.messages import ExecutionQuery
from sempre.web.shared import Kept
from sempre.web.visit import Visit

__all__ = [
    "DAY",
    "SAMPLE",
    "StoreHealth",
    "health_of",
    "queues_of",
    "read_health",
    "soonest",
    "will_run",
]

DAY = timedelta(days=1)
SAMPLE = 500
"""The executions that figures are computed from: the newest ones of the last 24 hours."""
FAILURES = 8
SOONEST = 40
"""Names of schedules that are kept to find those that run next."""


@dataclass(frozen=True)
class StoreHealth:
    """What a scan of all schedules tells, and what is read beside it.

    Attributes:
        soonest: names of the schedules that run next, of more than a page shows.
        queues: queues that schedules declare.
        jobs: jobs of schedules.
        tags: tags of schedules.
        sample: the newest executions of the last 24 hours.
        is_all: whether these are all executions of the last 24 hours.
        failures: the last executions that failed for good, of each job.
    """

    facts: Facts
    problems: Sequence[Problem]
    soonest: Sequence[str]
    queues: frozenset[str]
    jobs: frozenset[str]
    tags: frozenset[str]
    sample: Sequence[Execution]
    is_all: bool
    failures: Sequence[Execution]


def health_of(visit: Visit) -> Kept[StoreHealth]:
    """Return the health of the store, as of the last reading."""
    engine = visit.reader.engine
    return visit.shared.kept("health", lambda: read_health(engine))


def queues_of(visit: Visit) -> Kept[list[QueueBacklog]]:
    """Return the queues and their backlogs, as of the last reading."""
    engine, declared = visit.reader.engine, health_of(visit).value.queues

    def read() -> list[QueueBacklog]:
        reader = Reader(engine)
        reader.read(reader.store.last_pass())
        return read_queues(reader, read_workers(reader), declared=declared)

    return visit.shared.kept("queues", read)


def read_health(engine: Engine) -> StoreHealth:
    """Read the health of a store, with one scan of its schedules."""
    reader = Reader(engine)
    schedules = list(reader.schedules())
    facts = facts_among(reader, schedules)
    query = ExecutionQuery(since=facts.now - DAY, until=facts.now, limit=SAMPLE)
    sample = reader.read(reader.store.executions(query))
    failures = reader.read(reader.store.failures(since=facts.now - DAY, limit=FAILURES))
    failures.sort(key=lambda row: row.ended_at or row.run_at, reverse=True)
    return StoreHealth(
        facts=facts,
        problems=problems_of(facts),
        soonest=[each.name for each in soonest(schedules, facts.now, count=SOONEST)],
        queues=frozenset(each.definition.queue for each in schedules),
        jobs=frozenset(each.definition.job for each in schedules),
        tags=frozenset(tag for each in schedules for tag in each.definition.tags),
        sample=sample.items,
        is_all=not sample.after,
        failures=failures[:FAILURES],
    )


def soonest(schedules: Iterable[Schedule], now: datetime, *, count: int) -> list[Schedule]:
    """Return the schedules that run next."""
    coming = (each for each in schedules if will_run(each, now))
    return nsmallest(count, coming, key=lambda each: (each.next_run_at or now, each.name))


def will_run(schedule: Schedule, now: datetime) -> bool:
    """Return whether a schedule has a next slot, and neither a pause without end nor a fault."""
    stopped = schedule.pause is not None and schedule.pause.holds(now) and not schedule.pause.until
    return schedule.next_run_at is not None and not stopped and not schedule.broken
