"""Contracts of a broker that carries nothing: a message only wakes waiting workers."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.broker import LARGEST_BODY, Broker, Message
from sempre.testing.contracts.broker.builders import FOREVER, Stopwatch, ended, new_lane, put_one


def test_it_takes_everything(broker: Broker) -> None:
    """Every message has a handle, of any size and as many as there are."""
    large = Message(new_lane(), "x" * (LARGEST_BODY + 1))
    many = [Message(new_lane(), str(number), delay=number) for number in range(10_000)]

    assert not broker.capabilities.carries
    assert all(broker.put([large, *many]))


def test_it_delivers_nothing(broker: Broker) -> None:
    """Workers find the work in the store; an interrupted wait is a hint to query the store."""
    lane = new_lane()
    put_one(broker, lane)

    assert broker.reserve([lane], limit=1, wait=0) == []


def test_it_holds_nothing(broker: Broker) -> None:
    """So the broker can lose no message."""
    lane = new_lane()
    handle = put_one(broker, lane)

    assert not broker.has_any(lane)
    assert not broker.holds(lane, handle, "ring")


def test_it_has_nothing_to_throw_away(broker: Broker) -> None:
    """The messages are rows of the store."""
    lane = new_lane()
    put_one(broker, lane)

    assert broker.empty([lane]) == 0


def test_putting_wakes_whoever_waits(broker: Broker) -> None:
    """Also for a message that is due later: the length of the wait has changed."""
    lane = new_lane()
    answer = ended(lambda: broker.reserve([lane], limit=1, wait=FOREVER))

    put_one(broker, lane, delay=60)

    assert answer() == []
    assert broker.reserve([lane], limit=1, wait=FOREVER) == []
    watch = Stopwatch()
    assert broker.reserve([lane], limit=1, wait=0.2) == []
    assert watch.has_passed(0.2)
