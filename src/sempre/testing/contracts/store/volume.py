"""Contracts of measures: how much a store holds."""

# ruff: noqa: S101 - a contract asserts, with literals

from datetime import timedelta

from sempre.domain.planning import plan_delete
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    draft_schedule,
    due_schedule,
    enqueued,
    now_of,
    perform,
    row_of,
)

DAY = timedelta(days=1)


def test_an_empty_store_holds_nothing(store: Store) -> None:
    """And has no history."""
    found = store.volume()

    assert (found.schedules, found.executions, found.ranges) == (0, 0, 0)
    assert (found.first_end, found.last_end) == (None, None)


def test_a_store_counts_what_it_holds(store: Store) -> None:
    """Executions in any state, and schedules that are not deleted."""
    due_schedule(store, "billing")
    due_schedule(store, "other")
    enqueued(store)

    before = store.volume()
    perform(store, plan_delete)

    assert (before.schedules, before.executions) == (2, 3)
    assert store.volume().schedules == 1


def test_history_reaches_from_the_first_end_to_the_last(store: Store) -> None:
    """Executions that wait have no end."""
    schedule, now = draft_schedule(store), now_of(store)
    ends = [now - days * DAY for days in (5, 9, 7)]
    rows = [
        row_of(
            View(schedule),
            end,
            kind=Kind.MANUAL,
            state=State.FAILED,
            started_at=end,
            first_started_at=end,
            finished_at=end,
        )
        for end in ends
    ]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    enqueued(store)

    found = store.volume()

    assert (found.first_end, found.last_end) == (min(ends), max(ends))
