"""Contracts of measures: how much a store holds."""

# ruff: noqa: S101 - a contract asserts, with literals

from dataclasses import replace
from datetime import timedelta

from sempre.domain.planning import plan_delete
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    now_of,
    perform,
    row_of,
    session_of,
    succeed,
    work_of,
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


def test_the_mark_of_activity_stays_while_nothing_happens(store: Store) -> None:
    """Reading changes nothing."""
    due_schedule(store)

    assert store.activity().value == store.activity().value
    assert store.activity().value.running == 0


def test_the_mark_of_activity_changes_with_each_step_of_an_execution(store: Store) -> None:
    """Created, started and ended; also beside newer executions that stay as they are.

    Ids of executions grow with time, as those of applications do.
    """
    marks = [store.activity().value]
    works = [work_of(store) for _ in range(2)]
    for number, work in enumerate(works):
        identity = f"0193abcd-000{number}-7000-8000-000000000000"
        store.enqueue([replace(work, execution=replace(work.execution, id=identity))])
        marks.append(store.activity().value)
    identity = "0193abcd-0000-7000-8000-000000000000"
    started = claimed(store, identity, session_of(store))
    marks.append(store.activity().value)
    succeed(store, started)
    marks.append(store.activity().value)

    assert len({each.mark for each in marks}) == len(marks)
    assert [each.running for each in marks] == [0, 0, 0, 1, 0]
