"""Contracts of delay: a message is never early, and delays no other message."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.broker import Broker, Message
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    Stopwatch,
    bodies_of,
    delivered,
    ended,
    new_lane,
    only,
    put_one,
    reserved,
)


def test_a_delayed_message_is_never_early(broker: Broker) -> None:
    """After the delay, a waiting consumer gets the message like one without delay."""
    lane = new_lane()
    watch = Stopwatch()
    put_one(broker, lane, delay=1)

    assert reserved(broker, lane) == []
    delivery = only(broker, lane)

    assert watch.has_passed(1)
    assert delivery.message == Message(lane, "ring")


def test_a_part_of_a_second_is_never_rounded_down(broker: Broker) -> None:
    """A broker of whole seconds rounds up."""
    lane = new_lane()
    for delay in (0.05, 1.2):
        watch = Stopwatch()
        put_one(broker, lane, delay=delay)

        assert only(broker, lane)

        assert watch.has_passed(delay)


def test_a_delayed_message_does_not_hold_up_others(broker: Broker) -> None:
    """Not even one of a lower priority."""
    lane = new_lane()
    put_one(broker, lane, "later", delay=60, priority=0)
    put_one(broker, lane, "now", priority=5000)

    assert bodies_of(reserved(broker, lane)) == ["now"]


def test_the_sooner_of_two_delays_comes_first(broker: Broker) -> None:
    """Whichever was put first."""
    lane = new_lane()
    put_one(broker, lane, "second", delay=2)
    put_one(broker, lane, "first", delay=1)

    assert bodies_of(delivered(broker, [lane], count=2)) == ["first", "second"]


def test_whoever_waits_is_told_of_a_shorter_delay(broker: Broker) -> None:
    """A wait that was for another message ends in time for this one."""
    lane = new_lane()
    put_one(broker, lane, "tomorrow", delay=86_400)
    answer = ended(lambda: broker.reserve([lane], limit=1, wait=FOREVER))
    watch = Stopwatch()

    put_one(broker, lane, "soon", delay=1)

    assert bodies_of(answer()) == ["soon"]
    assert watch.has_passed(1)


def test_many_become_due_at_once(broker: Broker) -> None:
    """Due messages come by priority, as if they had always been ready."""
    lane = new_lane()
    messages = [Message(lane, str(n), delay=1, priority=n % 7) for n in range(500)]
    broker.put(messages)
    marker = new_lane()
    put_one(broker, marker, delay=2)
    only(broker, marker)

    found = reserved(broker, lane, limit=500)

    assert sorted(bodies_of(found)) == sorted(message.body for message in messages)
    if broker.capabilities.prioritises:
        priorities = [each.message.priority for each in found]
        assert priorities == sorted(priorities)
