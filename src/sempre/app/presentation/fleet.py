"""Workers and queues as commands and pages show them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from sempre.app.health.reader import Reader
from sempre.app.presentation.fields import Field, Fields, Presenter, StoreReader
from sempre.app.times import format_duration
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.errors import Refused
from sempre.ports.messages import ExecutionQuery, Page, Session, Waiting
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = [
    "MOST_COUNTED",
    "QUEUE",
    "WORKER",
    "QueueBacklog",
    "WorkerState",
    "read_queues",
    "read_workers",
    "refuse_alive",
    "shown_count",
]

MOST_COUNTED = 10_000
"""Waiting executions that are counted for each queue; beyond, a count is shown as "10,000+"."""
PAGE = 1_000
FOREVER = timedelta(days=36_500)
LIGHTS = {"alive": "*", "draining": "~", "expired": "x"}


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


def read_workers(reader: StoreReader) -> list[WorkerState]:
    """Return all workers with their runs: by host, then process."""
    reading = reader.store.sessions()
    sessions = reader.read(reading)
    runs: dict[str, list[Execution]] = {each.id: [] for each in sessions}
    for row in sorted(_running(reader), key=lambda each: each.fence):
        runs.get(row.session, []).append(row)
    found = [WorkerState(each, runs[each.id], reading.now) for each in sessions]
    return sorted(found, key=lambda each: (each.session.host, each.session.pid, each.session.id))


def _running(reader: StoreReader) -> Iterator[Execution]:
    query = ExecutionQuery(states=frozenset({State.RUNNING}), limit=PAGE)
    return walk_pages(
        lambda after: reader.read(reader.store.executions(replace(query, after=after)))
    )


def read_queues(
    reader: StoreReader,
    workers: Iterable[WorkerState],
    *,
    declared: Collection[str] | None = None,
) -> list[QueueBacklog]:
    """Return the queues that hold work, are served or are declared by a schedule, by name.

    The declared queues are read from the schedules unless they are given.
    """
    queues = _Queues()
    for worker in workers:
        for name in worker.session.queues if worker.state != "expired" else ():
            queues[name].workers += 1
        for name, count in Counter(row.snapshot.queue for row in worker.runs).items():
            queues[name].running += count
    if declared is None:
        declared = {each.definition.queue for each in Reader(reader.engine).schedules()}
    for name in declared:
        _ = queues[name]
    _count_waiting(reader, queues)
    for row in reader.read(reader.store.held(limit=MOST_COUNTED)):
        queues[row.queue].held += 1
    switches = reader.read(reader.store.switches())
    for name, queue in queues.found.items():
        queue.stopped_by = _switch_of(switches, name)
    return [queues.found[name] for name in sorted(queues.found)]


def _count_waiting(reader: StoreReader, queues: _Queues) -> None:
    """Count waiting work of all queues in one scan, or of each queue if more than 10,000 wait."""
    now = reader.now
    rows = list(islice(_waiting(reader, None, FOREVER), MOST_COUNTED + 1))
    for row in rows:
        queues[row.queue].add(row, now)
    if len(rows) <= MOST_COUNTED:
        return
    for queue in queues.found.values():
        _count_queue(reader, queue, now)


def _count_queue(reader: StoreReader, queue: QueueBacklog, now: datetime) -> None:
    """Count the waiting work of one queue; the future is unknown behind too much due work."""
    queue.due, queue.upcoming, queue.oldest_at = 0, 0, None
    names = frozenset({queue.name})
    for row in islice(_waiting(reader, names, timedelta(0)), MOST_COUNTED + 1):
        queue.add(row, now)
    if queue.due > MOST_COUNTED:
        queue.upcoming = None
        return
    rows = islice(_waiting(reader, names, FOREVER), queue.due + MOST_COUNTED + 1)
    queue.upcoming = sum(row.due_at > now for row in rows)


def _waiting(
    reader: StoreReader, queues: frozenset[str] | None, horizon: timedelta
) -> Iterator[Waiting]:
    def page_after(place: str) -> Page[Waiting]:
        store = reader.store
        return reader.read(store.waiting(queues, horizon=horizon, after=place, limit=PAGE))

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


def shown_count(count: int | None) -> str:
    """Return a bounded count as text: `10,000+` beyond the bound, nothing for zero."""
    if count is None:
        return "?"
    return f"{MOST_COUNTED:,}+" if count > MOST_COUNTED else f"{count:,}"


def _light(queue: QueueBacklog) -> str:
    if queue.is_unserved:
        return "!"
    return "=" if queue.stopped_by else "*"


def _oldest(queue: QueueBacklog, context: Presenter) -> str:
    return format_duration(context.now - queue.oldest_at) if queue.oldest_at else ""


def _note(queue: QueueBacklog) -> str:
    if queue.stopped_by:
        return f"stopped by the switch {queue.stopped_by}"
    return "no live worker serves this queue" if queue.is_unserved else ""


QUEUE = Fields[QueueBacklog](
    Field("", _light, column=""),
    Field("name", lambda each: each.name, column="QUEUE", flexible=14),
    Field("due", lambda each: each.due, column="DUE", text=lambda e, _: shown_count(e.due)),
    Field("oldest_due_at", lambda each: each.oldest_at, column="OLDEST", text=_oldest),
    Field(
        "upcoming",
        lambda each: each.upcoming,
        column="FUTURE",
        text=lambda e, _: shown_count(e.upcoming),
    ),
    Field("held", lambda each: each.held, column="HELD", text=lambda e, _: shown_count(e.held)),
    Field("running", lambda each: each.running, column="RUNNING", text=lambda e, _: f"{e.running}"),
    Field("workers", lambda each: each.workers, column="WORKERS", text=lambda e, _: f"{e.workers}"),
    Field("stopped_by", lambda each: each.stopped_by or None),
    Field("unserved", lambda each: each.is_unserved),
    Field("", _note, column="NOTE", below=True),
)


def _lease(worker: WorkerState, _context: Presenter) -> str:
    left = worker.lease_left
    return format_duration(left) if worker.state != "expired" else f"over {format_duration(-left)}"


def _runs(worker: WorkerState, _context: Presenter) -> str:
    return str(len(worker.runs))


WORKER = Fields[WorkerState](
    Field("", lambda each: LIGHTS[each.state], column=""),
    Field("id", lambda each: each.session.id, column="ID", is_id=True),
    Field("state", lambda each: each.state, column="STATE"),
    Field("host", lambda each: each.session.host, column="HOST", flexible=12),
    Field("pid", lambda each: each.session.pid, column="PID"),
    Field("queues", lambda each: each.session.queues),
    Field("jobs", lambda each: each.session.jobs),
    Field("running", lambda each: [row.id for row in each.runs], column="RUNS", text=_runs),
    Field("started_at", lambda each: each.session.started_at, column="SINCE"),
    Field("leased_until", lambda each: each.session.leased_until, column="LEASE", text=_lease),
    Field("release", lambda each: each.session.release, column="RELEASE", optional=True),
    Field("tzdata", lambda each: each.session.tzdata, column="TZDATA", optional=True),
    Field(
        "", lambda each: ", ".join(each.session.queues), column="QUEUES", flexible=12, below=True
    ),
)
