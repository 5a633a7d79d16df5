"""Contracts of the bell: which rows the broker has not been told of, and that it was told."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.states import State
from sempre.domain.values import changed
from sempre.ports.messages import Birth, Cancelled, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    new_id,
    now_of,
    read,
    row_of,
    session_of,
    view_of,
    waiting_schedule,
)

__all__ = [
    "test_a_row_that_was_rung_is_scheduled_and_no_orphan",
    "test_only_pending_rows_are_marked_as_rung",
    "test_orphans_are_as_many_as_asked_for",
    "test_orphans_are_pending_and_due_within_the_horizon_earliest_first",
]


def test_orphans_are_pending_and_due_within_the_horizon_earliest_first(store: Store) -> None:
    """Of schedules and one-off alike; held and running ones are not among them."""
    near = waiting_schedule(store).rows[0]
    past = read(store, enqueued(store))
    soon = read(store, enqueued(store, due_in=MINUTE))
    far = read(store, enqueued(store, due_in=2 * HOUR))
    held = draft_schedule(store, "held")
    row = row_of(View(held), now_of(store) - MINUTE, held_by="maintenance")
    assert store.create([Birth(held, (row,))]) == [True]
    running = due_schedule(store, "running", limit=1).rows[0]
    claimed(store, running.id, session_of(store))

    assert store.unrung(horizon=HOUR, limit=100).value == [past, soon, near]
    assert store.unrung(horizon=3 * HOUR, limit=100).value == [past, soon, near, far]
    assert store.unrung(horizon=timedelta(0), limit=100).value == [past]


def test_orphans_are_as_many_as_asked_for(store: Store) -> None:
    """The earliest of them."""
    ids = [enqueued(store, due_in=-minutes * MINUTE) for minutes in range(9, 0, -1)]

    found = store.unrung(horizon=HOUR, limit=4).value

    assert [row.id for row in found] == ids[:4]


def test_a_row_that_was_rung_is_scheduled_and_no_orphan(store: Store) -> None:
    """Nothing else of it changes, nor of its schedule."""
    view = waiting_schedule(store)
    row = view.rows[0]

    assert store.mark_rung([row.id]) == 1

    assert view_of(store) == View(view.schedule, (changed(row, state=State.SCHEDULED),))
    assert store.unrung(horizon=HOUR, limit=100).value == []


def test_only_pending_rows_are_marked_as_rung(store: Store) -> None:
    """Who started or ended meanwhile stays as it is; unknown ids and repeats are not counted."""
    waiting, running, over = enqueued(store), due_schedule(store).rows[0].id, enqueued(store)
    claimed(store, running, session_of(store))
    assert store.cancel([over]) == [Cancelled.ENDED]

    assert store.mark_rung([waiting, running, over, new_id()]) == 1
    assert store.mark_rung([waiting]) == 0
    assert store.mark_rung([]) == 0

    assert read(store, running).state is State.RUNNING
    assert read(store, over).state is State.CANCELLED
