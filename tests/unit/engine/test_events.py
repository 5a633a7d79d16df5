"""Telling of work never harms the work."""

import logging

import pytest

from sempre.clock import SystemClock
from sempre.engine.events import Event, Events, Happened
from sempre.telemetry.logs import Narrator


def test_a_listener_that_raises_is_heard_no_more_of_and_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events, told = Events(), list[Event]()

    def broken(event: Event) -> None:
        raise ValueError(event.name)

    events.listen(broken)
    events.listen(told.append)

    events.tell(Happened.BROKER_UP)
    events.tell(Happened.BROKER_UP)

    assert len(told) == 2
    assert len(caplog.records) == 1


def test_a_listener_that_raises_in_two_threads_at_once_harms_neither() -> None:
    events, told = Events(), list[Event]()

    def broken(event: Event) -> None:
        if event.name is Happened.BROKER_UP:
            # What another thread tells while this one is about to raise.
            events.tell(Happened.STORE_DOWN)
        raise ValueError(event.name)

    events.listen(broken)
    events.listen(told.append)

    events.tell(Happened.BROKER_UP)

    assert [event.name for event in told] == [Happened.STORE_DOWN, Happened.BROKER_UP]


def test_what_nobody_wants_to_hear_need_not_be_told_until_somebody_does() -> None:
    events, log = Events(), logging.getLogger("tests.quiet")
    log.setLevel(logging.INFO)
    assert not events.are_heard(Happened.STARTED)

    events.listen(Narrator(SystemClock(), log))

    assert not events.are_heard(Happened.STARTED)
    assert events.are_heard(Happened.SUCCEEDED)
    log.setLevel(logging.DEBUG)
    assert events.are_heard(Happened.STARTED)


def test_a_listener_that_says_nothing_of_it_hears_everything_it_was_named_for() -> None:
    events, told = Events(), list[Event]()

    events.listen(told.append, Happened.STARTED)

    assert events.are_heard(Happened.STARTED)
    assert not events.are_heard(Happened.SUCCEEDED)
