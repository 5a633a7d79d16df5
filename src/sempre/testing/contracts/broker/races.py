"""Contracts of many threads on one broker: each message is reserved by one thread."""

# ruff: noqa: S101 - a contract asserts

from collections import Counter
from collections.abc import Iterable, Sequence

from sempre.ports.broker import Broker, Message
from sempre.testing.contracts.broker.builders import (
    PATIENCE,
    all_at_once,
    bodies_of,
    new_lane,
    put_one,
)
from sempre.testing.polling import eventually

THREADS = 6
MOST = 1500
LAST = "there are no more"


def _consume(broker: Broker, lane: str, *, limit: int = 7) -> list[str]:
    """Reserve and acknowledge until a message says that it is the last, and pass that one on."""
    found: list[str] = []
    while True:
        deliveries = broker.reserve([lane], limit=limit, wait=PATIENCE)
        last = [each for each in deliveries if each.message.body == LAST]
        others = [each for each in deliveries if each.message.body != LAST]
        broker.acknowledge(others)
        found += bodies_of(others)
        broker.put_back(last, delay=0)
        if (last and not others) or len(found) > MOST:
            return found


def test_every_message_is_reserved_by_one_thread(broker: Broker) -> None:
    """With any number of competing threads."""
    lane = new_lane()
    bodies = [str(number) for number in range(MOST)]
    broker.put([Message(lane, body) for body in bodies])

    found = all_at_once(*[lambda: _consume_some(broker, lane)] * THREADS)

    _check_each_once((body for part in found for body in part), bodies)


def _check_each_once(found: Iterable[str], bodies: Sequence[str]) -> None:
    """Not compared as a whole: to show how a thousand counts differ would take minutes."""
    times = Counter(found)
    assert not {body: count for body, count in times.items() if count != 1}
    assert not set(bodies) ^ set(times)


def _consume_some(broker: Broker, lane: str) -> list[str]:
    """Reserve and acknowledge until nothing is left, or there is far more than there can be."""
    found: list[str] = []
    while len(found) <= MOST and (deliveries := broker.reserve([lane], limit=11, wait=0)):
        broker.acknowledge(deliveries)
        found += bodies_of(deliveries)
    return found


def test_producers_and_consumers_do_not_lose_a_message(broker: Broker) -> None:
    """While some put, others wait, reserve and acknowledge."""
    lane = new_lane()
    numbers = range(300)

    def produce(name: str) -> list[str]:
        for number in numbers:
            put_one(broker, lane, f"{name}-{number}", priority=number % 5)
        put_one(broker, lane, LAST, priority=9999)
        return []

    producers = [lambda: produce("a"), lambda: produce("b")]
    consumers = [lambda: _consume(broker, lane)] * 4
    found = all_at_once(*producers, *consumers)

    # A thread that met a last message early left the rest to other threads, or to this one.
    rest = _consume_rest(broker, lane)
    bodies = [body for part in [*found, rest] for body in part]
    _check_each_once(bodies, [f"{name}-{number}" for name in "ab" for number in numbers])


def _consume_rest(broker: Broker, lane: str) -> list[str]:
    """Reserve the remaining messages except the last messages."""
    deliveries = broker.reserve([lane], limit=10_000, wait=PATIENCE)
    return [body for body in bodies_of(deliveries) if body != LAST]


def test_waking_while_messages_come_loses_none(broker: Broker) -> None:
    """An interrupted wait puts back any message that it reserved."""
    lane = new_lane()
    bodies = [str(number) for number in range(100)]
    done: list[bool] = []

    def receive() -> list[str]:
        found: list[str] = []
        try:
            while len(found) < len(bodies):
                deliveries = broker.reserve([lane], limit=1, wait=PATIENCE)
                broker.acknowledge(deliveries)
                found += bodies_of(deliveries)
        finally:
            done.append(True)
        return found

    def wake() -> list[str]:
        while not done:
            broker.wake()
        return []

    def send() -> list[str]:
        for body in bodies:
            put_one(broker, lane, body)
        return []

    found = all_at_once(receive, send, wake)

    _check_each_once(found[0], bodies)
    put_one(broker, lane, LAST)
    deliveries = eventually(lambda: broker.reserve([lane], limit=1, wait=PATIENCE))
    assert bodies_of(deliveries) == [LAST]
