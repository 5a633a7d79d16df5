"""Contracts of what can be asked without reserving anything."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.broker import Broker
from sempre.testing.contracts.broker.builders import new_lane, only, put_one, reserved


def test_a_message_is_held_until_it_is_acknowledged(broker: Broker) -> None:
    """Delayed, ready, reserved and put back."""
    lane = new_lane()
    delayed, ready = put_one(broker, lane, "later", delay=60), put_one(broker, lane)

    assert broker.holds(lane, delayed, "later")
    assert broker.holds(lane, ready, "ring")
    delivery = only(broker, lane)
    assert broker.holds(lane, ready, "ring")
    broker.put_back([delivery], delay=0)
    assert broker.holds(lane, ready, "ring")
    broker.acknowledge([only(broker, lane)])

    assert not broker.holds(lane, ready, "ring")
    assert broker.holds(lane, delayed, "later")


def test_another_body_under_the_same_handle_is_another_message(broker: Broker) -> None:
    """A broker that has lost its memory reuses handles; the body tells messages apart."""
    lane = new_lane()
    handle = put_one(broker, lane, "mine")

    assert not broker.holds(lane, handle, "yours")
    assert not broker.holds(lane, handle, "")
    assert not broker.holds(new_lane(), handle, "mine")
    for unknown in ("", "999999999", "no handle", "1 2", "\r\n"):
        assert not broker.holds(lane, unknown, "mine")


def test_a_lane_has_messages_that_are_ready_or_delayed(broker: Broker) -> None:
    """Acknowledged messages do not count."""
    empty, ready, delayed = new_lane(), new_lane(), new_lane()
    put_one(broker, ready)
    put_one(broker, delayed, delay=60)

    assert not broker.has_any(empty)
    assert broker.has_any(ready)
    assert broker.has_any(delayed)
    broker.acknowledge([only(broker, ready)])
    assert not broker.has_any(ready)


def test_a_reserved_message_is_not_one_that_a_lane_has(broker: Broker) -> None:
    """Until the message is put back; other messages count, ready or delayed."""
    lane = new_lane()
    put_one(broker, lane)

    delivery = only(broker, lane)
    assert not broker.has_any(lane)
    broker.put_back([delivery], delay=60)
    assert broker.has_any(lane)

    ready = put_one(broker, lane)
    delivery = only(broker, lane)
    assert delivery.handle == ready
    assert broker.has_any(lane)


def test_looking_takes_nothing(broker: Broker) -> None:
    """After any number of queries, the message can still be reserved."""
    lane = new_lane()
    handle = put_one(broker, lane)

    for _ in range(3):
        assert broker.has_any(lane)
        assert broker.holds(lane, handle, "ring")

    assert len(reserved(broker, lane)) == 1
