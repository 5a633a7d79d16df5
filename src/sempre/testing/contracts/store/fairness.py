"""Contracts of fairness: work that has waited too long is found at any priority."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    draft_schedule,
    enqueued,
    now_of,
    read,
    row_of,
    session_of,
    wanted,
)

WAITING = [("a", 5, 1), ("b", 2000, 9), ("c", 5, 7), ("d", 10, 8), ("e", 1000, 3)]


def test_overdue_rows_come_by_time_whatever_their_priority(store: Store) -> None:
    """The one that has waited longest comes first, and as many as are wanted."""
    for name, priority, minutes in WAITING:
        _wait(store, name, minutes, priority=priority)

    assert _overdue(store, 2 * MINUTE) == ["b", "d", "c", "e"]
    assert _overdue(store, 2 * MINUTE, limit=1) == ["b"]
    assert _overdue(store, timedelta(0)) == ["b", "d", "c", "e", "a"]


def test_what_is_overdue_for_less_is_left_to_its_priority(store: Store) -> None:
    """Such work is neither listed nor taken while its wait is below the given limit."""
    _wait(store, "a", 5)
    enqueued(store, due_in=-5 * MINUTE)
    asked = copy_with(wanted(), overdue=10 * MINUTE)

    assert store.due(asked).value == []
    assert store.claim_one_off(asked, session=session_of(store)).value == []


def test_overdue_work_is_taken_by_time_whatever_its_priority(store: Store) -> None:
    """The call takes at most the given number; the rest is left for the next caller."""
    ids = {
        name: enqueued(store, due_in=-minutes * MINUTE, priority=priority)
        for name, priority, minutes in WAITING
    }
    session = session_of(store)

    def take(limit: int) -> list[str]:
        asked = copy_with(wanted(limit=limit), overdue=2 * MINUTE)
        return [row.id for row in store.claim_one_off(asked, session=session).value]

    assert take(1) == [ids["b"]]
    assert take(2) == [ids["d"], ids["c"]]
    assert take(9) == [ids["e"]]
    assert take(9) == []
    assert read(store, ids["a"]).state is State.PENDING


def test_overdue_rows_leave_out_what_others_do_or_a_switch_holds(store: Store) -> None:
    """Age makes nothing claimable that otherwise is not."""
    _wait(store, "slow", 9, queue="slow")
    _wait(store, "dun", 8, job="dun")
    _wait(store, "red", 7, tags=("red",))
    _wait(store, "free", 6)
    enqueued(store, due_in=-9 * MINUTE)
    store.switch(Switch("red", "tag:red", "hold"), off=True)

    assert _overdue(store, MINUTE) == ["free"]


def _wait(store: Store, name: str, minutes: int, **policies: object) -> None:
    schedule = draft_schedule(store, name, **policies)
    row = row_of(View(schedule), now_of(store) - minutes * MINUTE)
    assert store.create([Birth(schedule, (row,))]) == [True]


def _overdue(store: Store, by: timedelta, *, limit: int = 100) -> list[str]:
    found = store.due(copy_with(wanted(limit=limit), overdue=by)).value
    return [each.execution.snapshot.name for each in found]
