"""Contracts of waiting: how long a wait lasts, and which events end a wait. For every broker."""

# ruff: noqa: S101 - a contract asserts

from sempre.ports.broker import Broker
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    Stopwatch,
    all_at_once,
    ended,
    new_lane,
)


def test_a_wait_without_a_message_ends_empty(broker: Broker) -> None:
    """Also one that does not wait at all, and one of several lanes."""
    assert broker.reserve([new_lane()], limit=1, wait=0) == []
    assert broker.reserve([new_lane(), new_lane()], limit=10, wait=0.05) == []


def test_waits_are_not_cut_short(broker: Broker) -> None:
    """Whole seconds or fractions: an idle worker does not query in a loop."""
    for seconds in (0.3, 1.0):
        watch = Stopwatch()
        assert broker.reserve([new_lane()], limit=1, wait=seconds) == []
        assert watch.has_passed(seconds)


def test_a_limit_of_none_only_waits(broker: Broker) -> None:
    """A worker without a free place may wait for a wake like any other."""
    assert broker.reserve([new_lane()], limit=0, wait=0.05) == []
    answer = ended(lambda: broker.reserve([new_lane()], limit=0, wait=FOREVER))

    broker.wake()

    assert answer() == []


def test_a_wake_ends_every_wait(broker: Broker) -> None:
    """The waits of all threads, in any lane."""
    answers = [ended(lambda: broker.reserve([new_lane()], limit=1, wait=FOREVER)) for _ in range(4)]

    broker.wake()

    assert [answer() for answer in answers] == [[], [], [], []]


def test_a_wake_ends_the_next_wait_too(broker: Broker) -> None:
    """A thread that is about to wait was not listening yet, and must not miss the wake-up."""
    broker.wake()

    answer = ended(lambda: broker.reserve([new_lane()], limit=1, wait=FOREVER))

    assert answer() == []


def test_a_wake_is_heard_once(broker: Broker) -> None:
    """A wake-up ends one wait; the next wait of the thread lasts as long as before."""
    broker.wake()
    broker.wake()
    assert broker.reserve([new_lane()], limit=1, wait=FOREVER) == []

    watch = Stopwatch()
    assert broker.reserve([new_lane()], limit=1, wait=0.2) == []

    assert watch.has_passed(0.2)


def test_waking_again_and_again_ends_wait_after_wait(broker: Broker) -> None:
    """No wake-up is lost between two waits in quick succession."""
    rounds, waiting = 20, 2
    done: list[bool] = []

    def wait() -> int:
        lane = new_lane()
        for _ in range(rounds):
            assert broker.reserve([lane], limit=1, wait=FOREVER) == []
        done.append(True)
        return rounds

    def wake() -> int:
        while len(done) < waiting:
            broker.wake()
        return 0

    assert all_at_once(*[wait] * waiting, wake) == [*[rounds] * waiting, 0]
