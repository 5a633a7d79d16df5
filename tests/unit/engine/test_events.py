"""Telling of work never harms the work."""

import pytest

from sempre.engine.events import Event, Events, Happened


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
