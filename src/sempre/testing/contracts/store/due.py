"""Contracts of due: what a worker is shown, in which order, and with what planning needs."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    new_id,
    now_of,
    row_of,
    session_of,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
)


def test_due_rows_come_by_priority_and_then_by_time(store: Store) -> None:
    """A lower priority is sooner; among equals the one that has waited longest."""
    for name, priority, minutes in [("a", 5, 1), ("b", 2000, 9), ("c", 5, 7), ("d", 10, 8)]:
        schedule = draft_schedule(store, name, priority=priority)
        row = row_of(View(schedule), now_of(store) - minutes * MINUTE)
        assert store.create([Birth(schedule, (row,))]) == [True]

    found = store.due(wanted()).value

    assert [each.execution.snapshot.name for each in found] == ["c", "a", "d", "b"]


def test_due_takes_as_many_as_are_wanted(store: Store) -> None:
    """The first rows in order are returned."""
    schedule = draft_schedule(store)
    slots = [now_of(store) - minutes * MINUTE for minutes in range(20, 0, -1)]
    rows = tuple(row_of(View(schedule), slot, kind=Kind.MANUAL) for slot in slots)
    assert store.create([Birth(schedule, rows[::-1])]) == [True]

    found = store.due(wanted(limit=7)).value

    assert [each.execution for each in found] == list(rows[:7])


def test_ids_are_told_of_what_is_due_and_of_what_comes_within_a_while(store: Store) -> None:
    """In the order of due, and no more than are wanted."""
    rows = {}
    for name, priority, minutes in [("a", 5, 1), ("b", 2000, 9), ("c", 5, -2), ("d", 10, -50)]:
        schedule = draft_schedule(store, name, priority=priority)
        row = row_of(View(schedule), now_of(store) - minutes * MINUTE)
        assert store.create([Birth(schedule, (row,))]) == [True]
        rows[row.id] = name

    def names(minutes: int, limit: int = 10) -> list[str]:
        found = store.due_ids(wanted(limit=limit), within=minutes * MINUTE)
        return [rows[each] for each in found.value]

    assert names(0) == ["a", "b"]
    assert names(5) == ["a", "c", "b"]
    assert names(60) == ["a", "c", "d", "b"]
    assert names(60, limit=2) == ["a", "c"]


def test_due_rows_are_of_the_queues_and_jobs_that_are_wanted(store: Store) -> None:
    """A worker gets only rows that the worker can run."""
    due_schedule(store, "one", queue="slow", job="bill")
    due_schedule(store, "two", queue="default", job="dun")
    due_schedule(store, "three", queue="default", job="bill")

    def names(*, queues: str, jobs: str) -> list[str]:
        found = store.due(wanted(queues=queues, jobs=jobs)).value
        return sorted(each.execution.snapshot.name for each in found)

    assert names(queues="default", jobs="bill") == ["three"]
    assert names(queues="default slow", jobs="bill") == ["one", "three"]
    assert names(queues="default", jobs="bill dun mail") == ["three", "two"]
    assert names(queues="default", jobs="Bill") == []
    assert names(queues="other", jobs="bill") == []
    assert names(queues="", jobs="") == []


def test_due_rows_leave_out_early_held_and_running_ones(store: Store) -> None:
    """One-off work and ended rows are left out too."""
    waiting_schedule(store, "early")
    held = draft_schedule(store, "held")
    row = row_of(View(held), now_of(store) - MINUTE, held_by="maintenance")
    assert store.create([Birth(held, (row,))]) == [True]
    running, over = due_schedule(store, "running"), due_schedule(store, "over")
    session = session_of(store)
    claimed(store, running.rows[0].id, session)
    succeed(store, claimed(store, over.rows[0].id, session))
    enqueued(store)

    assert store.due(wanted()).value == []


def test_due_rows_come_with_what_planning_needs(store: Store) -> None:
    """Each row comes with the view of the schedule and the store's now."""
    view = due_schedule(store)

    reading = store.due(wanted())

    [found] = reading.value
    assert found.execution == view.rows[0]
    assert found.view == view
    assert found.execution.due_at <= reading.now


def test_candidates_are_found_in_any_state_with_their_views(store: Store) -> None:
    """A worker with a ticket queries by id; unknown ids are left out."""
    running, over, waiting = due_schedule(store, "a"), due_schedule(store, "b"), enqueued(store)
    session = session_of(store)
    claimed(store, running.rows[0].id, session)
    succeed(store, claimed(store, over.rows[0].id, session))

    ids = [running.rows[0].id, over.rows[0].id, waiting, new_id()]
    found = {each.execution.id: each for each in store.candidates(ids).value}

    assert found.keys() == set(ids[:3])
    states = [found[each].execution.state for each in ids[:3]]
    assert states == [State.RUNNING, State.SUCCEEDED, State.PENDING]
    assert found[ids[0]].view == view_of(store, "a")
    assert found[ids[1]].view == view_of(store, "b")
    assert found[ids[2]].view is None
