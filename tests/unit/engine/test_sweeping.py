"""What the dead hold is taken back, unless the store's clock cannot be trusted just now."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from sempre.brokers.store import StoreBroker
from sempre.config import Settings
from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.engine.bell import Bell
from sempre.engine.core import ClockReading, Engine
from sempre.engine.events import Event, Events, Happened
from sempre.engine.rescuer import Rescuer
from sempre.grids.unknown_grid import ForeignGrid
from sempre.ports.messages import Birth, Candidate, Reading, View
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.store.builders import (
    claimed,
    draft_schedule,
    enqueued,
    read,
    row_of,
    session_of,
    wanted,
)

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def run_of_a_foreign_grid(store: MemoryStore) -> Execution:
    """Put in a manual run of a schedule whose grid only other programs know."""
    grid = ForeignGrid({"grid": "nobody-knows"})
    schedule = draft_schedule(store, "foreign", grid=grid, on_unknown="hold")
    manual = row_of(View(schedule), NOON, kind=Kind.MANUAL)
    store.create([Birth(schedule, (manual,))])
    return manual


class TwoClocks:
    """The store's clock and this process's own, which can be set apart."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.step = timedelta(0)

    def now(self) -> datetime:
        return NOON + self.step + timedelta(seconds=self.seconds)

    def elapsed(self) -> float:
        return self.seconds


class SlowStore(MemoryStore):
    """A store that knows at once what has expired, and takes its time to say so."""

    def __init__(self, clock: TwoClocks) -> None:
        super().__init__(clock)
        self._two_clocks = clock
        self.takes = 0.0

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        found = super().expired(limit)
        self._two_clocks.seconds += self.takes
        return found


@pytest.fixture
def clock() -> TwoClocks:
    return TwoClocks()


@pytest.fixture
def store(clock: TwoClocks) -> SlowStore:
    return SlowStore(clock)


@pytest.fixture
def engine(store: SlowStore, clock: TwoClocks) -> Engine:
    events, settings = Events(), Settings()
    bell = Bell(store, StoreBroker(), horizon=settings.horizon, clock=clock, events=events)
    return Engine(store, bell, settings, clock, events, "2026.1")


@pytest.fixture
def lose(store: SlowStore) -> Callable[[], str]:
    """Let a worker that takes a piece of work die before its lease is over; return its id."""

    def lose() -> str:
        work, session = enqueued(store), session_of(store, lease=timedelta(seconds=30))
        store.claim_one_off(wanted(), session=session)
        return work

    return lose


def test_what_a_dead_worker_held_is_taken_back_after_its_lease(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str]
) -> None:
    work, rescuer = lose(), Rescuer(engine)
    assert rescuer.rescue() == 0
    clock.seconds += 31
    assert rescuer.rescue() == 1
    assert read(store, work).state is State.SCHEDULED


def test_what_planning_cannot_deal_with_keeps_nobody_else_from_being_taken_back(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str]
) -> None:
    told: list[Event] = []
    engine.events.listen(told.append, Happened.UNKNOWN_GRID)
    manual = run_of_a_foreign_grid(store)
    claimed(store, manual.id, session_of(store, lease=timedelta(seconds=30)))
    work = lose()
    clock.seconds += 31

    assert Rescuer(engine).rescue() == 1

    assert read(store, work).state is State.SCHEDULED
    assert read(store, manual.id).state is State.RUNNING
    assert [event.facts["schedule"] for event in told] == ["foreign"]


@pytest.mark.parametrize("takes", [2.0, 20.0])
def test_a_store_that_answers_slowly_is_no_clock_that_jumped(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str], takes: float
) -> None:
    told: list[Event] = []
    engine.events.listen(told.append, Happened.CLOCK_JUMPED)
    rescuer = Rescuer(engine)
    lose()
    store.takes = takes
    rescued = []
    for _ in range(4):
        rescued.append(rescuer.rescue())
        engine.read(store.last_pass())
        clock.seconds += 15
    assert sum(rescued) == 1
    assert told == []


def test_after_a_jump_nothing_is_taken_back_for_the_length_of_a_lease(
    engine: Engine, clock: TwoClocks, lose: Callable[[], str]
) -> None:
    told: list[Event] = []
    engine.events.listen(told.append, Happened.CLOCK_JUMPED)
    rescuer = Rescuer(engine)
    rescuer.rescue()
    lose()
    clock.step = timedelta(hours=1)
    clock.seconds += 15
    assert rescuer.rescue() == 0
    clock.seconds += 15
    assert rescuer.rescue() == 0
    clock.seconds += 15
    assert rescuer.rescue() == 1
    assert [round(event.facts["seconds"]) for event in told] == [3600]


def test_a_jump_that_somebody_else_heard_of_first_is_one_all_the_same(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str]
) -> None:
    rescuer = Rescuer(engine)
    rescuer.rescue()
    lose()
    clock.step = timedelta(hours=1)
    engine.time.note(store.last_pass().now)
    assert rescuer.rescue() == 0


def test_a_clock_that_was_set_back_takes_nothing_from_anybody(
    engine: Engine, clock: TwoClocks, lose: Callable[[], str]
) -> None:
    rescuer = Rescuer(engine)
    rescuer.rescue()
    lose()
    clock.step = -timedelta(minutes=10)
    clock.seconds += 40
    assert rescuer.rescue() == 0


def beaten(rescuer: Rescuer, engine: Engine, store: SlowStore) -> None:
    """Let a beat tell what the store knows."""
    asked_at = engine.clock.elapsed()
    reading = store.tick("somebody", wanted(), lease=timedelta(seconds=30))
    heard = ClockReading(reading.now, asked_at, engine.clock.elapsed())
    rescuer.note_beat(heard, has_expired=reading.value.has_expired)


def test_the_store_is_asked_when_a_beat_told_of_something_or_none_told_for_a_sweep(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str]
) -> None:
    rescuer = Rescuer(engine)
    asked: list[int] = []
    rescuer.rescue = lambda: asked.append(1) or 0  # type: ignore[method-assign, func-returns-value]
    beaten(rescuer, engine, store)
    rescuer.step()
    assert asked == []
    clock.seconds += 14
    rescuer.step()
    assert asked == []
    clock.seconds += 1
    rescuer.step()
    assert asked == [1]
    lose()
    clock.seconds += 31
    beaten(rescuer, engine, store)
    for _ in range(2):
        rescuer.step()
    assert asked == [1, 1]


def test_a_jump_that_a_beat_tells_of_puts_what_has_expired_in_doubt(
    engine: Engine, clock: TwoClocks, store: SlowStore, lose: Callable[[], str]
) -> None:
    rescuer, rescued = Rescuer(engine), []
    beaten(rescuer, engine, store)
    lose()
    clock.step = timedelta(hours=1)
    for _ in range(4):
        clock.seconds += 10
        beaten(rescuer, engine, store)
        rescued.append(rescuer.step())
    assert rescued == [0, 0, 0, 1]
