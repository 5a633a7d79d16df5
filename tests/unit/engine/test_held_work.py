"""A worker whose next work is held sleeps like one that has none, and misses nothing by it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from sempre.brokers.store import StoreBroker
from sempre.config import Settings
from sempre.domain.execution import Execution
from sempre.domain.values import copy_with
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.worker import Worker
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.broker import Delivery
from sempre.ports.executor import Task
from sempre.ports.messages import Candidate, Reading, Switch, Wanted
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import Hands
from sempre.testing.contracts.store.builders import due_schedule, enqueued, work_of

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOLD = Switch("deploy", "job:bill", "hold")
TASKS = {name: Task(name, print) for name in ("bill", "mail")}


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def elapsed(self) -> float:
        return self.seconds


class CountingStore(MemoryStore):
    """A store that counts how often somebody looks for slots."""

    looks = 0

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        self.looks += wanted.overdue is None
        return super().due(wanted)


class Bed(StoreBroker):
    """A broker by which a worker sleeps until it is woken, while its heart goes on beating."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._woken = False
        self.beat: Callable[[], float] = float
        self.beats = 0
        self._beat_at = 0.0

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:  # noqa: ARG002
        until = self._clock.seconds + wait
        while not self._woken and self._clock.seconds < until:
            self._clock.seconds = max(self._clock.seconds, min(until, self._beat_at))
            self.beat_in_time()
        self._woken = False
        return []

    def beat_in_time(self) -> None:
        if self._clock.seconds >= self._beat_at:
            self._beat_at = self._clock.seconds + self.beat()
            self.beats += 1

    def wake(self) -> None:
        self._woken = True


class Night:
    """A worker with the store as broker, whose heart and fetcher take turns in virtual time."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = CountingStore(self.clock)
        self.bed, events, settings = Bed(self.clock), Events(), Settings()
        bell = Bell(self.store, self.bed, horizon=settings.horizon, clock=self.clock, events=events)
        engine = Engine(self.store, bell, settings, self.clock, events, "2026.1")
        self.hands = Hands()
        self.worker = Worker(engine, WorkerSpec(TASKS, frozenset({"default"}), 8), self.hands)
        self.bed.beat = self.worker.beat

    def pass_by(self, duration: timedelta) -> list[Execution]:
        """Let the worker work for so long; return what it began."""
        known, until = len(self.hands.begun), self.clock.seconds + duration.total_seconds()
        while self.clock.seconds < until:
            self.bed.beat_in_time()
            self.worker.fetch(patience=0)
            self.worker.settle()
        return self.hands.begun[known:]


@pytest.fixture
def night() -> Night:
    return Night()


def test_a_worker_whose_work_is_held_looks_at_most_once_in_a_beat(night: Night) -> None:
    due_schedule(night.store)
    night.store.switch(HOLD, off=True)

    assert night.pass_by(10 * MINUTE) == []

    assert night.bed.beats <= 67
    assert night.store.looks <= night.bed.beats + 1


def test_what_is_due_behind_held_work_begins_within_a_beat(night: Night) -> None:
    due_schedule(night.store)
    night.store.switch(HOLD, off=True)
    night.pass_by(MINUTE)
    work = work_of(night.store, due_in=timedelta(seconds=95))
    night.store.enqueue([work])

    [begun] = night.pass_by(3 * MINUTE)

    late = (begun.started_at or NOON) - begun.due_at
    assert begun.id == work.execution.id
    assert timedelta(0) <= late <= Settings().beat


def test_what_was_held_begins_within_a_beat_of_its_release(night: Night) -> None:
    due_schedule(night.store)
    held = enqueued(night.store, due_in=-MINUTE)
    night.store.switch(copy_with(HOLD, target="all"), off=True)
    night.pass_by(MINUTE)

    night.store.switch(HOLD, off=False)

    begun = night.pass_by(Settings().beat)
    assert {row.snapshot.job for row in begun} == {"bill", "mail"}
    assert held in {row.id for row in begun}
