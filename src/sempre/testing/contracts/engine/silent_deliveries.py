"""Contracts of a broker that delivers no ticket: workers query the store until one arrives.

The steady clock of the worker stands still between steps, so the worker has always listened.
"""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.execution import Execution
from sempre.engine.events import Happened
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker, StillClock
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued

AT_ONCE = timedelta(microseconds=1)
HOUR = 3600.0


class _Listener:
    """A worker that has listened to the broker for an hour, with free places."""

    def __init__(self, store: Store) -> None:
        self.shop = Workshop(store)
        self.clock = StillClock()
        self.broker = ForgetfulBroker()
        self.worker = self.worker_beside()
        assert self.worker.turn() == []
        self.listen(HOUR)

    @property
    def lane(self) -> str:
        return self.worker.engine.bell.lane("default")

    def worker_beside(self) -> DrivenWorker:
        """Return one that has not taken a step yet."""
        zero, clock, lease = timedelta(0), self.clock, timedelta(seconds=2 * HOUR)
        return self.shop.worker(
            broker=self.broker, clock=clock, grace=zero, sweep=AT_ONCE, lease=lease
        )

    def listen(self, seconds: float) -> None:
        """Let time pass in which the worker listens."""
        self.worker.fetcher.tickets.tests.listened(until=self.clock.elapsed() + seconds)
        self.clock.move(seconds)

    def told(self) -> list[Happened]:
        """Return the events about silent deliveries of the broker."""
        ears = (Happened.BROKER_DEAF, Happened.BROKER_HEARD)
        return [event.name for event in self.worker.told if event.name in ears]


def _ids(rows: list[Execution]) -> list[str]:
    return [row.id for row in rows]


def test_a_broker_that_delivers_nothing_is_deaf_until_a_probe_comes_through(store: Store) -> None:
    """Meanwhile the store serves: nothing waits for a sweep, and nothing runs twice."""
    listener = _Listener(store)
    worker, broker = listener.worker, listener.broker
    broker.is_deaf = True
    first = enqueued(listener.shop.store)

    assert _ids(worker.turn()) == [first]

    [deaf] = worker.heard(Happened.BROKER_DEAF)
    assert deaf.facts["lane"] == listener.lane
    assert worker.engine.bell.is_silent
    second = enqueued(listener.shop.store)
    worker.engine.bell.ring([store.candidates([second]).value[0].execution], listener.shop.now)
    assert _ids(worker.turn()) == [second]
    broker.is_deaf = False
    assert worker.turn() == []
    assert listener.told() == [Happened.BROKER_DEAF, Happened.BROKER_HEARD]
    assert not worker.engine.bell.is_silent
    assert broker.ready(listener.lane) == []


def test_a_broker_that_swallows_everything_is_deaf(store: Store) -> None:
    """Every sweep asks the broker again, by a new probe."""
    listener = _Listener(store)
    worker, broker = listener.worker, listener.broker
    broker.swallows = True
    mail = enqueued(listener.shop.store)

    assert _ids(worker.turn()) == [mail]

    assert listener.told() == [Happened.BROKER_DEAF]
    for _ in range(3):
        listener.listen(1.0)
        assert worker.turn() == []
    assert listener.told() == [Happened.BROKER_DEAF]
    broker.swallows = False
    for _ in range(2):
        listener.listen(1.0)
        assert worker.turn() == []
    assert listener.told() == [Happened.BROKER_DEAF, Happened.BROKER_HEARD]


def test_a_broker_that_lost_one_ticket_is_not_deaf(store: Store) -> None:
    """The probe comes through, and nothing is reported."""
    listener = _Listener(store)
    mail = enqueued(listener.shop.store)

    assert _ids(listener.worker.turn()) == [mail]

    assert listener.told() == []
    assert listener.broker.ready(listener.lane) == []
    assert listener.worker.fetcher.tickets.tests.next == float("inf")


def test_a_probe_that_another_worker_receives_was_heard(store: Store) -> None:
    """The probe is gone, and the witness of the probe is still there."""
    listener = _Listener(store)
    mail = enqueued(listener.shop.store)
    listener.broker.is_deaf = True
    assert _ids(listener.worker.fetch_some()) == [mail]
    listener.broker.is_deaf = False
    assert len(listener.broker.ready(listener.lane)) == 1

    assert listener.worker_beside().turn() == []
    assert listener.worker.turn() == []

    assert listener.told() == []
    assert listener.worker.fetcher.tickets.tests.next == float("inf")


def test_what_was_due_before_a_worker_listened_says_nothing_of_the_broker(store: Store) -> None:
    """No worker was listening for the ticket: no probe is put."""
    shop, broker = Workshop(store), ForgetfulBroker()
    broker.is_deaf = True
    worker = shop.worker(broker=broker, grace=timedelta(0), sweep=AT_ONCE)
    [row] = shop.due().rows
    mail = enqueued(shop.store)

    assert set(_ids(worker.work_off())) == {row.id, mail}

    assert worker.heard(Happened.BROKER_DEAF) == []
    assert worker.fetcher.tickets.tests.next == float("inf")
