"""Timeouts call an action once for each key, and none for a key that was forgotten."""

from queue import SimpleQueue
from threading import Event

import pytest

from sempre.clock import SystemClock
from sempre.executors.timeouts import Timeouts


def test_actions_are_called_in_the_order_of_their_times_each_once() -> None:
    clock = SystemClock()
    timeouts = Timeouts(clock)
    called: SimpleQueue[str] = SimpleQueue()
    now = clock.elapsed()

    timeouts.set("late", now + 0.03, lambda: called.put("late"))
    timeouts.set("soon", now + 0.01, lambda: called.put("soon"))
    timeouts.set("past", now - 5, lambda: called.put("past"))

    found = [called.get(timeout=60) for _ in range(3)]
    assert sorted(found) == ["late", "past", "soon"]
    assert found.index("soon") < found.index("late")
    assert called.empty()
    timeouts.stop()


def test_a_forgotten_action_is_not_called_and_a_later_action_replaces_an_earlier() -> None:
    clock = SystemClock()
    timeouts = Timeouts(clock)
    called: SimpleQueue[str] = SimpleQueue()
    now = clock.elapsed()

    timeouts.set("forgotten", now + 0.02, lambda: called.put("forgotten"))
    timeouts.set("changed", now + 0.02, lambda: called.put("first"))
    timeouts.set("changed", now + 0.03, lambda: called.put("second"))
    timeouts.set("end", now + 0.04, lambda: called.put("end"))
    timeouts.forget("forgotten")
    timeouts.forget("never set")

    assert [called.get(timeout=60), called.get(timeout=60)] == ["second", "end"]
    timeouts.stop()


def test_an_action_that_raises_is_logged_and_keeps_no_other_from_being_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = SystemClock()
    timeouts = Timeouts(clock)
    called = Event()

    timeouts.set("bad", clock.elapsed() - 2, lambda: 1 / 0)
    timeouts.set("good", clock.elapsed() + 0.01, called.set)

    assert called.wait(60)
    assert "the timeout of a run raised an error" in caplog.text
    timeouts.stop()


def test_stopped_timeouts_call_no_action() -> None:
    clock = SystemClock()
    timeouts = Timeouts(clock)
    called: SimpleQueue[str] = SimpleQueue()
    timeouts.set("far", clock.elapsed() + 1e12, lambda: called.put("far"))

    timeouts.stop()
    timeouts.set("past", clock.elapsed() - 1, lambda: called.put("past"))

    assert called.empty()
