"""Telling of work never harms the work."""

import logging

import pytest

from sempre.clock import SystemClock
from sempre.engine.events import Event, Events, Happened
from sempre.telemetry.logs import Narrator
from tests.unit.app.conftest import Hand


def test_a_listener_that_raises_is_logged_and_stays_registered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events, told, calls = Events(), list[Event](), list[Event]()

    def flaky(event: Event) -> None:
        calls.append(event)
        if len(calls) == 1:
            raise TimeoutError("the chat service does not answer")

    events.listen(flaky, Happened.FAILED)
    events.listen(told.append)

    events.emit(Happened.FAILED)
    events.emit(Happened.FAILED)

    assert len(told) == 2
    assert len(calls) == 2
    [record] = caplog.records
    assert "flaky" in record.getMessage()
    assert "execution.failed" in record.getMessage()
    assert record.exc_info


def test_a_listener_that_always_raises_is_logged_once_a_minute_with_a_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Hand()
    events = Events(clock)

    def broken(event: Event) -> None:
        raise ValueError(event.name)

    events.listen(broken)
    for _ in range(100):
        events.emit(Happened.SUCCEEDED)
    assert len(caplog.records) == 1

    clock.seconds = 61.0
    events.emit(Happened.SUCCEEDED)

    assert len(caplog.records) == 2
    assert "99 more" in caplog.records[1].getMessage()


def test_a_listener_that_raises_in_two_threads_at_once_harms_neither() -> None:
    events, told = Events(), list[Event]()

    def broken(event: Event) -> None:
        if event.name is Happened.BROKER_UP:
            # What another thread tells while this one is about to raise.
            events.emit(Happened.STORE_DOWN)
        raise ValueError(event.name)

    events.listen(broken)
    events.listen(told.append)

    events.emit(Happened.BROKER_UP)

    assert [event.name for event in told] == [Happened.STORE_DOWN, Happened.BROKER_UP]


def test_what_nobody_wants_to_hear_need_not_be_told_until_somebody_does() -> None:
    events, log = Events(), logging.getLogger("tests.quiet")
    log.setLevel(logging.INFO)
    assert not events.has_listener(Happened.STARTED)

    events.listen(Narrator(SystemClock(), log))

    assert not events.has_listener(Happened.STARTED)
    assert events.has_listener(Happened.SUCCEEDED)
    log.setLevel(logging.DEBUG)
    assert events.has_listener(Happened.STARTED)


def test_a_listener_that_says_nothing_of_it_hears_everything_it_was_named_for() -> None:
    events, told = Events(), list[Event]()

    events.listen(told.append, Happened.STARTED)

    assert events.has_listener(Happened.STARTED)
    assert not events.has_listener(Happened.SUCCEEDED)
