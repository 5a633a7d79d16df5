"""Contracts of the watchdog's message: the message asks for a pass and decides nothing.

The settings of the worker that answers a message count, whatever the message says.
"""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.engine.events import Happened
from sempre.engine.tickets import SCHEDULER_QUEUE, WatchdogCall
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Message
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker
from sempre.testing.contracts.engine.workshop import Workshop

YEAR = timedelta(days=365)


def _listening(shop: Workshop, broker: ForgetfulBroker, interval: int = 300) -> DrivenWorker:
    """Return a worker that has swept an empty store, and now only listens to the broker."""
    worker = shop.worker(broker=broker, watchdog_interval=timedelta(seconds=interval))
    assert worker.turn() == []
    return worker


def _lane(worker: DrivenWorker) -> str:
    return worker.engine.bell.lane(SCHEDULER_QUEUE)


def _call(worker: DrivenWorker, interval: int, *, priority: int = 100, times: int = 1) -> list[str]:
    """Put messages that are due now; return their handles."""
    message = Message(_lane(worker), WatchdogCall(interval).to_text(), priority=priority)
    return worker.engine.bell.broker.put([message] * times)


def test_a_worker_sees_that_the_watchdogs_message_exists(store: Store) -> None:
    """One message after any number of checks, and a new one when the broker has lost it."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    for _ in range(3):
        shop.worker(broker=broker).heal()
    lane = shop.engine(broker=broker).bell.lane(SCHEDULER_QUEUE)
    body = WatchdogCall(300).to_text()
    assert broker.bodies(lane) == [body]

    broker.forget()
    shop.worker(broker=broker).heal()

    assert broker.bodies(lane) == [body]


def test_a_message_decides_nothing_about_the_next_pass(store: Store) -> None:
    """A message forged with an interval of a year calls for a pass; the next is due as before."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    forged = WatchdogCall(int(YEAR.total_seconds())).to_text()
    broker.put([Message(_lane(worker), forged)] * 3)

    assert worker.turn() == []
    worker.maintain()

    [performed] = worker.heard(Happened.PERFORMED)
    assert (performed.facts["interval"], performed.facts["lock_acquired"]) == (300, True)
    reading = store.last_pass()
    assert reading.value.due_at <= reading.now + timedelta(seconds=300)


def test_a_due_date_that_no_interval_explains_is_healed_by_the_next_beat(store: Store) -> None:
    """A pass was requested for a year ahead; any worker notices, with or without a broker."""
    shop = Workshop(store)
    assert store.begin_pass(holder="mistaken", every=YEAR) is not None
    worker = shop.worker()

    worker.heal()

    assert [each.facts["lock_acquired"] for each in worker.heard(Happened.PERFORMED)] == [True]
    reading = store.last_pass()
    assert reading.value.due_at <= reading.now + timedelta(seconds=300)


# What becomes of the message


def test_a_call_of_the_watchdog_is_answered_and_put_back(store: Store) -> None:
    """The consumer puts the message back before the pass, so that it outlives a failed pass."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker, 77)
    [handle] = _call(worker, 77)

    assert worker.turn() == []
    assert broker.bodies(_lane(worker)) == [WatchdogCall(77).to_text()]
    assert broker.holds(_lane(worker), handle, WatchdogCall(77).to_text())
    worker.maintain()

    assert [event.facts["interval"] for event in worker.heard(Happened.PERFORMED)] == [77]


def test_a_message_of_other_settings_is_replaced(store: Store) -> None:
    """Of another interval or another priority: a changed setting counts at the next message."""
    for priority, interval in ((100, 12), (0, 300)):
        shop = Workshop(store)
        broker = ForgetfulBroker()
        worker = _listening(shop, broker)
        [old] = _call(worker, interval, priority=priority)

        assert worker.turn() == []

        lane, body = _lane(worker), WatchdogCall(300).to_text()
        assert broker.bodies(lane) == [body]
        assert not broker.holds(lane, old, WatchdogCall(interval).to_text())
        assert broker.priorities(lane) == [100]


def test_a_message_that_finds_another_waiting_ends(store: Store) -> None:
    """Extra ones, put by hand or by two workers at once, are gone after one interval."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    worker.maintenance.watchdog.enqueue()
    _call(worker, 300)
    _call(worker, 3)

    assert worker.turn() == []

    assert broker.bodies(_lane(worker)) == [WatchdogCall(300).to_text()]
    worker.maintain()
    assert len(worker.heard(Happened.PERFORMED)) == 1


def test_of_messages_answered_at_once_one_stays(store: Store) -> None:
    """Reserved in one batch, or by several workers before any of them has answered."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)
    _call(worker, 300, times=3)
    assert worker.turn() == []
    assert len(broker.bodies(_lane(worker))) == 1

    for interval in (300, 12):
        broker.forget()
        _call(worker, interval, times=3)
        lane = _lane(worker)
        deliveries = [broker.reserve([lane], limit=1, wait=0) for _ in range(3)]
        for [delivery] in deliveries:
            message = WatchdogMessage(shop.engine(broker=broker))
            message.answer(delivery, WatchdogCall(interval))

        assert broker.bodies(lane) == [WatchdogCall(300).to_text()]


def test_two_fleets_of_other_settings_keep_one_message(store: Store) -> None:
    """As in a rolling deploy: the answering worker decides, and one message goes on."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    fleets = [_listening(shop, broker, interval) for interval in (300, 12)]
    lane = _lane(fleets[0])
    _call(fleets[0], 300)

    for worker, interval in [(fleets[1], 12), (fleets[0], 300)] * 2:
        assert worker.turn() == []

        assert broker.bodies(lane) == [WatchdogCall(interval).to_text()]
        broker.hurry()


def test_a_new_message_is_told_with_its_lane_and_time(store: Store) -> None:
    """The log entry lets an operator find the message on the broker."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = _listening(shop, broker)

    worker.heal()

    [told] = worker.heard(Happened.WATCHDOG_ENQUEUED)
    assert told.facts["lane"] == worker.maintenance.watchdog.queue_name == _lane(worker)
    assert broker.holds(told.facts["lane"], told.facts["id"], WatchdogCall(300).to_text())
    assert (told.facts["interval"], told.facts["priority"]) == (300, 100)
    due_in = told.facts["runs_at"] - store.last_pass().now
    assert timedelta(seconds=240) < due_in <= timedelta(seconds=300)
