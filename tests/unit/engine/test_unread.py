"""Rows that cannot be read are told of once each, by as much memory as is set aside for it."""

import pytest

from sempre.domain.unreadable import Unreadable
from sempre.engine import unread
from sempre.engine.events import Event, Events
from sempre.engine.unread import UnreadRows


def row(identity: str) -> Unreadable:
    return Unreadable("schedules", identity, "billing", "it is new.")


def test_a_row_is_told_of_once_however_often_it_is_met() -> None:
    events, told = Events(), list[Event]()
    events.listen(told.append)
    rows = UnreadRows(events)

    for _ in range(3):
        rows.report([row("a"), row("b"), row("a")])

    assert [event.facts["row"].id for event in told] == ["a", "b"]
    assert {event.facts["schedule"] for event in told} == {"billing"}


def test_of_very_many_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "MOST", 2)
    events, told = Events(), list[Event]()
    events.listen(told.append)
    rows = UnreadRows(events)

    rows.report([row("a"), row("b"), row("c"), row("c"), row("a")])

    assert [event.facts["row"].id for event in told] == ["a", "b", "c", "a"]
