"""Contracts of a broker whose lanes are emptied: these, wholly, and no others."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.broker import Broker, Message
from sempre.testing.contracts.broker.builders import bodies_of, new_lane, only, put_one, reserved

MANY = 30


def test_an_emptied_lane_has_nothing_that_waits(broker: Broker) -> None:
    """Ready and delayed messages are deleted, and the call returns their number."""
    one, other = new_lane(), new_lane()
    ready = broker.put([Message(one, str(number)) for number in range(MANY)])
    delayed = broker.put([Message(other, str(number), delay=60) for number in range(MANY)])

    assert broker.empty([one, other]) == 2 * MANY

    assert not broker.has_any(one)
    assert not broker.has_any(other)
    assert not broker.holds(one, ready[0], "0")
    assert not broker.holds(other, delayed[-1], str(MANY - 1))
    assert reserved(broker, one, other) == []
    assert broker.empty([one, other]) == 0


def test_emptying_touches_no_other_lane(broker: Broker) -> None:
    """A lane with a common prefix is untouched: the lane may be another deployment's."""
    lane = new_lane()
    others = [f"{lane}s", f"{lane}.more", new_lane()]
    handles = broker.put([Message(name, name, delay=60) for name in others])
    put_one(broker, lane)

    broker.empty([lane])

    for name, handle in zip(others, handles, strict=True):
        assert broker.holds(name, handle, name)


def test_an_emptied_lane_can_be_used_again(broker: Broker) -> None:
    """Later messages come; earlier messages do not."""
    lane = new_lane()
    put_one(broker, lane, "before")

    broker.empty([lane])
    put_one(broker, lane, "after")

    assert bodies_of([only(broker, lane)]) == ["after"]
    assert reserved(broker, lane) == []


def test_to_finish_what_was_thrown_away_is_no_error(broker: Broker) -> None:
    """A consumer finishes a reserved message as always; nothing of the message is left."""
    lane = new_lane()
    put_one(broker, lane, "one")
    put_one(broker, lane, "two")
    held = only(broker, lane)

    broker.empty([lane])
    broker.acknowledge([held])

    assert not broker.has_any(lane)
    assert not broker.holds(lane, held.handle, held.message.body)
