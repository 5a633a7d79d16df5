"""A store that fails a worker: reported once and then at intervals, and nothing ends for it."""

from datetime import timedelta

import pytest

from sempre.engine.events import Event, Events, Happened
from sempre.engine.outage import CALM, EVERY, Outage
from sempre.errors import StoreError, StoreGone, StoreLocked, StoreRefused, StoreUnavailable
from sempre.ports.messages import Reading, Session, Tick, Wanted
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import StillClock
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued

# Of a workshop.
LEASE = 3600.0


class Unwritable(MemoryStore):
    """A store that can be read, and that takes no writes while there is a failure."""

    failure: StoreError | None = None

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        self._refuse()
        return super().tick(session, wanted, lease=lease)

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        self._refuse()
        return super().register(session, lease=lease)

    def _refuse(self) -> None:
        if self.failure:
            raise self.failure


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def outage(clock: StillClock, heard: list[Event]) -> Outage:
    events = Events()
    events.listen(heard.append)
    return Outage(clock, events)


def test_an_outage_is_reported_at_once_and_then_at_intervals(
    outage: Outage, clock: StillClock, heard: list[Event]
) -> None:
    for _ in range(int(EVERY) + 1):
        outage.failed("the disk is full")
        clock.move(1.0)

    assert [event.name for event in heard] == [Happened.STORE_DOWN] * 2
    assert heard[0].facts == {"error": "the disk is full"}


def test_a_store_that_answers_is_back_after_a_calm_and_that_is_reported_once(
    outage: Outage, clock: StillClock, heard: list[Event]
) -> None:
    outage.answered()
    outage.failed("the disk is full")
    outage.answered()
    clock.move(CALM)

    outage.answered()
    outage.answered()

    assert [event.name for event in heard] == [Happened.STORE_DOWN, Happened.STORE_UP]
    assert heard[1].facts == {"seconds": CALM}


def test_every_failure_is_counted_by_its_kind_however_seldom_it_is_reported(
    outage: Outage, clock: StillClock, heard: list[Event]
) -> None:
    errors = (StoreUnavailable("x"), StoreLocked("x"), StoreRefused("x"), StoreGone("x"), "text")
    for error in errors:
        outage.failed(error)

    assert outage.failures == {"unavailable": 2, "locked": 1, "refused": 1, "gone": 1}
    assert outage.is_under_way
    assert len(heard) == 1
    clock.move(CALM)
    outage.answered()
    assert not outage.is_under_way


@pytest.mark.parametrize("kind", [StoreUnavailable, StoreRefused, StoreError])
def test_a_store_that_refuses_writes_costs_a_worker_its_session_and_nothing_else(
    kind: type[StoreError],
) -> None:
    """Down, full, read-only, or without the rights for this user: no error leaves the beat."""
    store, clock = Unwritable(), StillClock()
    enqueued(store)
    worker = Workshop(store).worker(holding=True, clock=clock)
    [run] = worker.turn()
    before = worker.heartbeat.session

    store.failure = kind("no right to write")
    worker.beat()
    assert worker.hands.asked == {}
    clock.move(LEASE)
    worker.beat()
    assert worker.hands.asked == {run.id: "the lease was lost"}
    with pytest.raises(kind):
        worker.beat()
    store.failure = None
    worker.beat()

    assert worker.heartbeat.session not in ("", before)
    [told] = worker.heard(Happened.STORE_DOWN)
    assert told.facts == {"error": "no right to write"}
    [lost] = worker.heard(Happened.SESSION_LOST)
    assert lost.facts == {"session": before, "executions": [run.id]}
