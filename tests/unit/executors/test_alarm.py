"""An alarm rings once for each key, and not for one that was forgotten."""

from queue import SimpleQueue
from threading import Event

import pytest

from sempre.clock import SystemClock
from sempre.executors.alarm import Alarm


def test_keys_ring_in_their_order_each_once() -> None:
    clock = SystemClock()
    alarm = Alarm(clock)
    rung: SimpleQueue[str] = SimpleQueue()
    now = clock.elapsed()

    alarm.set("late", now + 0.03, lambda: rung.put("late"))
    alarm.set("soon", now + 0.01, lambda: rung.put("soon"))
    alarm.set("past", now - 5, lambda: rung.put("past"))

    heard = [rung.get(timeout=60) for _ in range(3)]
    assert sorted(heard) == ["late", "past", "soon"]
    assert heard.index("soon") < heard.index("late")
    assert rung.empty()
    alarm.stop()


def test_a_forgotten_key_does_not_ring_and_a_changed_one_rings_as_set_last() -> None:
    clock = SystemClock()
    alarm = Alarm(clock)
    rung: SimpleQueue[str] = SimpleQueue()
    now = clock.elapsed()

    alarm.set("forgotten", now + 0.02, lambda: rung.put("forgotten"))
    alarm.set("changed", now + 0.02, lambda: rung.put("first"))
    alarm.set("changed", now + 0.03, lambda: rung.put("second"))
    alarm.set("end", now + 0.04, lambda: rung.put("end"))
    alarm.forget("forgotten")
    alarm.forget("never set")

    assert [rung.get(timeout=60), rung.get(timeout=60)] == ["second", "end"]
    alarm.stop()


def test_a_ring_that_fails_is_logged_and_silences_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = SystemClock()
    alarm = Alarm(clock)
    rung = Event()

    alarm.set("bad", clock.elapsed() - 2, lambda: 1 / 0)
    alarm.set("good", clock.elapsed() + 0.01, rung.set)

    assert rung.wait(60)
    assert "could not be heard" in caplog.text
    alarm.stop()


def test_a_stopped_alarm_rings_no_more() -> None:
    clock = SystemClock()
    alarm = Alarm(clock)
    rung: SimpleQueue[str] = SimpleQueue()
    alarm.set("far", clock.elapsed() + 1e12, lambda: rung.put("far"))

    alarm.stop()
    alarm.set("past", clock.elapsed() - 1, lambda: rung.put("past"))

    assert rung.empty()
