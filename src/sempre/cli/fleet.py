"""Workers and queues as commands show them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from sempre.cli.context import CommandContext
from sempre.domain.execution import Execution
from sempre.domain.switch import Switch
from sempre.errors import Refused
from sempre.ports.messages import Page, Session, Waiting
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = [
    "MOST_COUNTED",
    "QueueBacklog",
    "WorkerState",
    "read_queues",
    "read_workers",
    "refuse_alive",
]

MOST_COUNTED = 10_000
"""Waiting executions that are counted for each queue; beyond, a count is shown as "10,000+"."""
PAGE = 1_000
FOREVER = timedelta(days=36_500)


@dataclass(frozen=True)
class WorkerState:
    """One worker process and what it runs at an instant."""

    session: Session
    runs: Sequence[Execution]
    now: datetime

    @property
    def state(self) -> str:
        """Whether the worker is alive, draining or expired."""
        if not self.session.is_leased_beyond(self.now):
            return "expired"
        return "draining" if self.session.draining else "alive"

    @property
    def lease_left(self) -> timedelta:
        """How long the lease lasts; negative since when it has expired."""
        return (self.session.leased_until or self.now) - self.now


@dataclass
class QueueBacklog:
    """The work of one queue.

    Attributes:
        due: executions that are due, with those that a switch keeps from starting.
        upcoming: executions that are due in the future; None if they were not counted.
        held: executions that a switch or limit holds back.
        running: executions that run now.
        oldest_at: when the longest waiting execution was due.
        workers: live workers that serve the queue.
        stopped_by: the switch that stops the whole queue, if any.
    """

    name: str
    due: int = 0
    upcoming: int | None = 0
    held: int = 0
    running: int = 0
    oldest_at: datetime | None = None
    workers: int = 0
    stopped_by: str = ""

    def add(self, row: Waiting, now: datetime) -> None:
        """Count a waiting execution."""
        if row.due_at > now:
            self.upcoming = (self.upcoming or 0) + 1
            return
        self.due += 1
        self.oldest_at = min(self.oldest_at or row.due_at, row.due_at)

    @property
    def is_unserved(self) -> bool:
        """Whether work is due that no live worker serves, and no switch explains."""
        return bool(self.due) and not self.workers and not self.stopped_by


@dataclass
class _Queues:
    """The queues that are known so far, by name."""

    found: dict[str, QueueBacklog] = field(default_factory=dict)

    def __getitem__(self, name: str) -> QueueBacklog:
        return self.found.setdefault(name, QueueBacklog(name))


def read_workers(context: CommandContext) -> list[WorkerState]:
    """Return all workers with their runs: by host, then process."""
    reading = context.store.sessions()
    sessions = context.read(reading)
    runs = {each.id: context.read(context.store.running(each.id)) for each in sessions}
    found = [WorkerState(each, runs[each.id], reading.now) for each in sessions]
    return sorted(found, key=lambda each: (each.session.host, each.session.pid, each.session.id))


def read_queues(context: CommandContext, workers: Iterable[WorkerState]) -> list[QueueBacklog]:
    """Return the queues that hold work, are served or are declared by a schedule, by name."""
    queues = _Queues()
    for worker in workers:
        for name in worker.session.queues if worker.state != "expired" else ():
            queues[name].workers += 1
        for name, count in Counter(row.snapshot.queue for row in worker.runs).items():
            queues[name].running += count
    for schedule in context.app.schedules:
        _ = queues[schedule.definition.queue]
    _count_waiting(context, queues)
    for row in context.read(context.store.held(limit=MOST_COUNTED)):
        queues[row.queue].held += 1
    switches = context.read(context.store.switches())
    for name, queue in queues.found.items():
        queue.stopped_by = _switch_of(switches, name)
    return [queues.found[name] for name in sorted(queues.found)]


def _count_waiting(context: CommandContext, queues: _Queues) -> None:
    """Count waiting work of all queues in one scan, or of each queue if more than 10,000 wait."""
    now = context.now
    rows = list(islice(_waiting(context, None, FOREVER), MOST_COUNTED + 1))
    for row in rows:
        queues[row.queue].add(row, now)
    if len(rows) <= MOST_COUNTED:
        return
    for queue in queues.found.values():
        _count_queue(context, queue, now)


def _count_queue(context: CommandContext, queue: QueueBacklog, now: datetime) -> None:
    """Count the waiting work of one queue; the future is unknown behind too much due work."""
    queue.due, queue.upcoming, queue.oldest_at = 0, 0, None
    names = frozenset({queue.name})
    for row in islice(_waiting(context, names, timedelta(0)), MOST_COUNTED + 1):
        queue.add(row, now)
    if queue.due > MOST_COUNTED:
        queue.upcoming = None
        return
    rows = islice(_waiting(context, names, FOREVER), queue.due + MOST_COUNTED + 1)
    queue.upcoming = sum(row.due_at > now for row in rows)


def _waiting(
    context: CommandContext, queues: frozenset[str] | None, horizon: timedelta
) -> Iterator[Waiting]:
    def page_after(place: str) -> Page[Waiting]:
        store = context.store
        return context.read(store.waiting(queues, horizon=horizon, after=place, limit=PAGE))

    return walk_pages(page_after)


def _switch_of(switches: Iterable[Switch], queue: str) -> str:
    """Return the name of the switch that stops a whole queue; empty without one."""
    targets = ("all", f"queue:{queue}")
    return next((each.name for each in switches if each.target in targets), "")


def refuse_alive(store: Store) -> None:
    """Raise Refused for a store with live workers."""
    reading = store.sessions()
    alive = sum(each.is_leased_beyond(reading.now) for each in reading.value)
    if alive:
        are = "1 worker is" if alive == 1 else f"{alive} workers are"
        raise Refused(
            f"{are} alive on this store: stop them first, or wait until their leases end."
        )
