"""Contracts of a broker's capabilities and close. Every broker keeps these contracts."""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sempre.errors import BrokerError, NamingError
from sempre.ports.broker import Broker, Message
from sempre.testing.contracts.broker.builders import FOREVER, ended, new_lane


def test_a_broker_declares_what_it_can_do(broker: Broker) -> None:
    """Each capability is a yes or no, and the horizon a length of time."""
    declared = broker.capabilities

    for answer in (declared.carries, declared.prioritises, declared.shared):
        assert isinstance(answer, bool)
    assert declared.horizon > timedelta(0)


def test_nothing_is_as_good_as_done(broker: Broker) -> None:
    """Empty batches are answered, with nothing."""
    assert broker.put([]) == []
    broker.acknowledge([])
    broker.put_back([], delay=1)
    assert broker.empty([]) == 0


def test_a_lane_that_some_broker_cannot_have_is_refused(broker: Broker) -> None:
    """No name gets into a protocol; the other messages of the call are not put either."""
    lane = new_lane()
    for wrong in ("", "two words", "a\r\nquit", "-a", "è", "x" * 201):
        assert _is_refused(partial(broker.put, [Message(lane, "a"), Message(wrong, "")]))
        assert _is_refused(partial(broker.reserve, [wrong], limit=1, wait=0))
        assert _is_refused(partial(broker.empty, [lane, wrong]))

    assert broker.reserve([lane], limit=1, wait=0) == []


def test_a_broker_can_be_closed_twice(broker: Broker) -> None:
    """A caller need not know whether the broker is closed already."""
    broker.close()
    broker.close()


def test_a_closed_broker_is_an_error(broker: Broker) -> None:
    """A closed broker neither reopens nor returns empty results."""
    lane = new_lane()
    broker.close()

    for use in (
        lambda: broker.put([Message(lane, "ring")]),
        lambda: broker.reserve([lane], limit=1, wait=0),
        lambda: broker.empty([lane]),
    ):
        try:
            use()
        except BrokerError:
            continue
        raise AssertionError("a closed broker was used")


def test_closing_ends_a_wait(broker: Broker) -> None:
    """A worker that is asked to stop does not wait for a message first."""

    def reserve() -> object:
        try:
            return broker.reserve([new_lane()], limit=1, wait=FOREVER)
        except BrokerError:
            return []

    answer = ended(reserve)

    broker.close()

    assert answer() == []


def _is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except NamingError:
        return True
    return False
