"""Gauges of the watchdog, the workers, the queues and the work that waits or runs.

The cost of the reading grows with the work that waits, up to the limits of `app.health.facts`, and
with the number of live workers; never with the number of schedules or the length of history.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sempre.app.health.facts import COUNTED, MOST
from sempre.app.health.reader import Reader
from sempre.app.health.reading import instant_in, interval_of
from sempre.app.health.waiting_work import read_waiting_work
from sempre.app.metrics.label_bounds import in_groups
from sempre.domain.limit_keys import PARKED
from sempre.engine.core import Engine
from sempre.ports.health import Backlog
from sempre.ports.messages import Pass, Session
from sempre.telemetry.metric_catalog import Sample

__all__ = ["read_work"]

NOTHING = timedelta(0)


def read_work(engine: Engine) -> list[Sample]:
    """Read the gauges from the store of an engine."""
    reader = Reader(engine)
    store = reader.store
    reading = store.last_pass()
    last, now = reader.read(reading), reading.now
    host = engine.clock.now() if store.capabilities.remote else now
    sessions, switches = reader.read(store.sessions()), reader.read(store.switches())
    alive = [each for each in sessions if each.is_leased_beyond(now)]
    waiting = read_waiting_work(reader, alive, switches)
    due = reader.read(store.backlog(late=NOTHING, limit=COUNTED))
    overdue = [now - row.due_at for row in waiting["overdue"]]
    unserved = {*waiting["unknown_work"], *waiting["unserved_work"]}
    return [
        *_of_pass(reader, last, now),
        Sample("sempre_clock_skew_seconds", (host - now).total_seconds()),
        Sample("sempre_workers", len(alive)),
        Sample("sempre_workers_draining", sum(each.draining for each in alive)),
        Sample("sempre_executions_overdue", len(overdue)),
        Sample("sempre_executions_overdue_age_seconds", _age(max(overdue, default=NOTHING))),
        Sample("sempre_executions_unserved", sum(each.count for each in unserved)),
        Sample("sempre_executions", len(waiting["unannounced"]), ("unannounced",)),
        Sample("sempre_switches_off", len(switches)),
        *_of_queues(due, now),
        *_of_runs(reader, alive),
        *_of_held(reader),
    ]


def _of_pass(reader: Reader, last: Pass, now: datetime) -> Iterator[Sample]:
    interval = interval_of(last) or reader.settings.watchdog_interval
    purging_since = instant_in(last, "purging_since")
    backlog = now - purging_since if purging_since else NOTHING
    if last.finished_at is not None:
        yield Sample("sempre_watchdog_age_seconds", _age(now - last.finished_at))
    yield Sample("sempre_watchdog_interval_seconds", interval.total_seconds())
    yield Sample("sempre_retention_backlog_age_seconds", _age(backlog))


def _of_queues(due: Sequence[Backlog], now: datetime) -> Iterator[Sample]:
    free = [each for each in due if not each.held_by]
    yield Sample("sempre_executions", sum(each.count for each in free), ("due",))
    for queue, groups in in_groups(free, lambda each: each.queue).items():
        oldest = min(each.oldest_due_at for each in groups)
        yield Sample("sempre_queue_depth", sum(each.count for each in groups), (queue,))
        yield Sample("sempre_queue_oldest_age_seconds", _age(now - oldest), (queue,))


def _of_runs(reader: Reader, alive: Sequence[Session]) -> Iterator[Sample]:
    runs = sum(len(reader.read(reader.store.running(each.id))) for each in alive[:MOST])
    yield Sample("sempre_executions", runs, ("running",))
    expired = reader.read(reader.store.expired(MOST))
    yield Sample("sempre_executions", len(expired), ("expired",))


def _of_held(reader: Reader) -> Iterator[Sample]:
    """Yield the executions that a switch or limit holds, and the limits of the first of them."""
    held = reader.read(reader.store.held(limit=COUNTED))
    yield Sample("sempre_executions", len(held), ("held",))
    rows = reader.read(reader.store.candidates([each.id for each in held[:MOST]])) if held else []
    holders = {each.execution.held_by for each in rows}
    yield Sample("sempre_limits_full", sum(each.startswith(PARKED) for each in holders))


def _age(duration: timedelta) -> float:
    return max(0.0, duration.total_seconds())
