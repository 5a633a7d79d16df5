"""Contracts of the end of a delivery: acknowledged, put back, or neither.

`hasty` is a broker like `broker`, on the server of `broker` if any, that delivers an unfinished
message again after a second.
"""

# ruff: noqa: S101 - a contract asserts

from dataclasses import replace

from sempre.ports.broker import Broker, Message
from sempre.testing.contracts.broker.builders import (
    PATIENCE,
    Stopwatch,
    bodies_of,
    delivered,
    new_lane,
    only,
    put_one,
    reserved,
)


def test_an_acknowledged_message_is_gone(hasty: Broker) -> None:
    """The message does not come back at the end of the reservation."""
    lane = new_lane()
    put_one(hasty, lane, "done")
    hasty.acknowledge([only(hasty, lane)])
    put_one(hasty, lane, "later", delay=3)

    assert bodies_of([only(hasty, lane)]) == ["later"]


def test_an_unfinished_message_is_delivered_again(hasty: Broker) -> None:
    """The first consumer may have died; the message is unchanged, the reservation is new."""
    lane = new_lane()
    put_one(hasty, lane)
    first = only(hasty, lane)
    assert reserved(hasty, lane) == []

    second = only(hasty, lane)

    assert (second.message, second.handle) == (first.message, first.handle)
    assert second.receipt != first.receipt


def test_a_reservation_that_has_passed_on_is_left_alone(hasty: Broker) -> None:
    """After redelivery the first consumer can neither acknowledge nor put back."""
    lane = new_lane()
    handle = put_one(hasty, lane)
    stale = only(hasty, lane)
    valid = only(hasty, lane)

    hasty.put_back([stale], delay=0)
    assert reserved(hasty, lane) == []
    hasty.acknowledge([stale])
    assert hasty.holds(lane, handle, "ring")

    hasty.acknowledge([valid])
    assert not hasty.holds(lane, handle, "ring")


def test_a_message_that_nobody_reserved_is_left_alone(broker: Broker) -> None:
    """A handle alone is no right to delete: the broker may have reused the handle."""
    lane = new_lane()
    handle = put_one(broker, lane)
    delivery = only(broker, lane)
    forged = replace(delivery, receipt="")
    broker.put_back([delivery], delay=0)

    for each in (forged, delivery):
        broker.acknowledge([each])
        broker.put_back([each], delay=60)

    assert broker.holds(lane, handle, "ring")
    assert bodies_of(reserved(broker, lane)) == ["ring"]


def test_a_delivery_that_is_over_can_be_finished_again(broker: Broker) -> None:
    """A repeated acknowledgement or put-back does nothing."""
    lane = new_lane()
    put_one(broker, lane)
    delivery = only(broker, lane)

    broker.acknowledge([delivery, delivery])
    broker.acknowledge([delivery])
    broker.put_back([delivery], delay=0)

    assert reserved(broker, lane) == []
    assert not broker.has_any(lane)


def test_a_message_that_is_put_back_comes_again_as_it_was(broker: Broker) -> None:
    """At once if without delay, to anyone."""
    lane = new_lane()
    message = Message(lane, "again", priority=3)
    [handle] = broker.put([message])

    for _ in range(3):
        delivery = only(broker, lane)
        assert delivery.message == message
        assert delivery.handle == handle
        broker.put_back([delivery], delay=0)

    assert broker.has_any(lane)


def test_putting_back_with_a_delay_is_never_early(broker: Broker) -> None:
    """The delay of the call counts, not the delay of the message."""
    lane = new_lane()
    put_one(broker, lane)
    delivery = only(broker, lane)
    watch = Stopwatch()

    broker.put_back([delivery], delay=1.1)

    assert reserved(broker, lane) == []
    assert only(broker, lane).handle == delivery.handle
    assert watch.has_passed(1.1)


def test_some_of_a_batch_are_finished_and_the_others_come_again(broker: Broker) -> None:
    """Each delivery of a batch is finished separately."""
    lane = new_lane()
    broker.put([Message(lane, str(number)) for number in range(600)])
    found = delivered(broker, [lane], count=600)

    broker.acknowledge(found[::2])
    broker.put_back(found[1::2], delay=0)

    again = delivered(broker, [lane], count=300)
    assert sorted(bodies_of(again)) == sorted(bodies_of(found[1::2]))
    assert reserved(broker, lane) == []


def test_another_object_hears_a_broker_that_is_shared(broker: Broker, hasty: Broker) -> None:
    """A broker that is not shared is heard by one object only."""
    lane = new_lane()
    put_one(broker, lane)

    found = hasty.reserve([lane], limit=1, wait=PATIENCE if broker.capabilities.shared else 0)

    assert bodies_of(found) == (["ring"] if broker.capabilities.shared else [])


def test_what_a_closed_broker_had_reserved_comes_again(broker: Broker, hasty: Broker) -> None:
    """At once or at the end of the reservation, if the broker is shared."""
    lane = new_lane()
    put_one(hasty, lane)
    assert only(hasty, lane)

    hasty.close()

    if broker.capabilities.shared:
        assert bodies_of([only(broker, lane)]) == ["ring"]
