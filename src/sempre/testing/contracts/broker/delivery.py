"""Contracts of delivery: messages come out in their lane, by priority, up to the limit."""

# ruff: noqa: S101 - a contract asserts

from random import Random

from sempre.errors import BrokerUnavailable
from sempre.ports.broker import LARGEST_BODY, Broker, Message
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    bodies_of,
    delivered,
    ended,
    new_lane,
    only,
    put_one,
    reserved,
)


def test_a_message_comes_as_it_was_put(broker: Broker) -> None:
    """Lane, body, priority and handle are unchanged."""
    lane = new_lane()
    message = Message(lane, '{"ring": 7}', priority=17)
    [handle] = broker.put([message])

    delivery = only(broker, lane)

    assert delivery.message == message
    assert delivery.handle == handle


def test_a_message_is_delivered_only_in_its_lane(broker: Broker) -> None:
    """Consumers of other lanes do not get the message."""
    lane = new_lane()
    put_one(broker, lane)

    assert reserved(broker, new_lane(), new_lane()) == []
    assert bodies_of(reserved(broker, new_lane(), lane)) == ["ring"]
    assert reserved(broker, lane) == []


def test_a_lane_that_is_named_twice_is_one_lane(broker: Broker) -> None:
    """The messages of the lane come once."""
    lane = new_lane()
    broker.put([Message(lane, "a"), Message(lane, "b")])

    assert sorted(bodies_of(reserved(broker, lane, lane, new_lane(), lane))) == ["a", "b"]


def test_a_batch_goes_to_the_lanes_of_its_messages(broker: Broker) -> None:
    """Handles come in the order of the messages, a different handle for each."""
    one, other = new_lane(), new_lane()
    messages = [Message(one if number % 3 else other, str(number)) for number in range(30)]

    handles = broker.put(messages)

    assert all(handles)
    assert len(set(handles)) == len(messages)
    for lane in (one, other):
        expected = {
            handle: message
            for handle, message in zip(handles, messages, strict=True)
            if message.lane == lane
        }
        found = delivered(broker, [lane], count=len(expected))
        assert {each.handle: each.message for each in found} == expected


def test_ten_thousand_messages_are_one_call_and_each_comes_once(broker: Broker) -> None:
    """However many there are, none is lost and none comes twice."""
    lane = new_lane()
    bodies = [f"message {number}" for number in range(10_000)]

    handles = broker.put([Message(lane, body) for body in bodies])

    found = delivered(broker, [lane], count=10_000)
    broker.acknowledge(found)
    by_handle = dict(zip(handles, bodies, strict=True))
    assert {each.handle: each.message.body for each in found} == by_handle
    assert not broker.has_any(lane)


def test_as_many_come_as_were_asked_for(broker: Broker) -> None:
    """Never more, and fewer only if there are no more."""
    lane = new_lane()
    broker.put([Message(lane, str(number)) for number in range(50)])

    counts = [len(reserved(broker, lane, limit=limit)) for limit in (1, 7, 40, 40, 40)]

    assert counts == [1, 7, 40, 2, 0]


def test_messages_come_by_priority(broker: Broker) -> None:
    """In one call and over several, the lowest number first."""
    if not broker.capabilities.prioritises:
        return
    lane = new_lane()
    priorities = Random(7).sample(range(5000), 40)  # noqa: S311 - an order that is no order
    broker.put([Message(lane, "ring", priority=priority) for priority in priorities])

    found = [*reserved(broker, lane, limit=13), *reserved(broker, lane, limit=100)]

    assert [each.message.priority for each in found] == sorted(priorities)


def test_a_lower_priority_comes_first_whatever_its_lane(broker: Broker) -> None:
    """The lanes that are asked for count as one."""
    if not broker.capabilities.prioritises:
        return
    one, other = new_lane(), new_lane()
    broker.put([Message(one, "3", priority=3), Message(one, "1", priority=1)])
    broker.put([Message(other, "2", priority=2), Message(other, "0", priority=0)])

    assert bodies_of(reserved(broker, one, other, limit=3)) == ["0", "1", "2"]
    assert bodies_of(reserved(broker, other, one, limit=3)) == ["3"]


def test_whoever_waits_is_told_of_a_new_message(broker: Broker) -> None:
    """A message in any lane of the consumer ends the wait."""
    one, other = new_lane(), new_lane()
    answer = ended(lambda: broker.reserve([one, other], limit=5, wait=FOREVER))

    put_one(broker, other)

    assert bodies_of(answer()) == ["ring"]


def test_a_body_that_is_too_big_is_refused_alone(broker: Broker) -> None:
    """The handle is empty; the broker accepts the other messages."""
    lane = new_lane()
    messages = [Message(lane, body) for body in ("first", "x" * (LARGEST_BODY + 1), "last")]

    first, refused, last = broker.put(messages)

    assert first
    assert last
    assert refused == ""
    assert sorted(bodies_of(delivered(broker, [lane], count=2))) == ["first", "last"]


def test_if_nothing_is_taken_the_broker_is_unavailable(broker: Broker) -> None:
    """The caller need not check the handles to know that nothing was put."""
    lane = new_lane()
    try:
        broker.put([Message(lane, "x" * (LARGEST_BODY + 1))] * 2)
    except BrokerUnavailable:
        assert not broker.has_any(lane)
    else:
        raise AssertionError("nothing was taken and nobody was told")
