"""Contracts of schedules: created once, found by name, and seen with the rows that matter."""

# ruff: noqa: S101 - a contract asserts

from datetime import UTC

from sempre.domain.planning import plan_delete, plan_edit, plan_skip
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    first_row,
    history_of,
    perform,
    read,
    row_of,
    session_of,
    started,
    succeed,
    view_of,
    waiting_schedule,
)


def test_a_schedule_comes_with_its_first_row(store: Store) -> None:
    """A birth writes the given schedule and rows unchanged."""
    schedule = draft_schedule(store)
    birth = started(schedule, at=schedule.created_at)

    assert store.create([birth]) == [True]

    assert view_of(store) == View(birth.schedule, birth.rows)


def test_many_schedules_are_created_in_one_call(store: Store) -> None:
    """A batch of births is created as a whole, in any order of names."""
    drafts = [draft_schedule(store, f"billing-{number}") for number in range(60)]
    births = [started(each, at=each.created_at) for each in drafts]

    assert store.create(births) == [True] * 60

    views = store.views([each.name for each in drafts]).value
    expected = {birth.schedule.name: View(birth.schedule, birth.rows) for birth in births}
    assert {view.schedule.name: view for view in views} == expected


def test_a_birth_is_refused_as_a_whole_if_its_name_is_taken(store: Store) -> None:
    """The second birth of a name is refused with its rows; other births of the batch succeed."""
    before = due_schedule(store)
    rival = draft_schedule(store, "billing")
    birth = started(rival, at=rival.created_at)
    other = started(draft_schedule(store, "other"), at=rival.created_at)

    assert store.create([birth, other]) == [False, True]

    assert view_of(store) == before
    assert store.candidates([row.id for row in birth.rows]).value == []
    assert view_of(store, "other").schedule == other.schedule


def test_of_two_births_of_one_name_in_a_batch_one_is_made(store: Store) -> None:
    """An earlier birth of the call takes the name."""
    births = [started(each, at=each.created_at) for each in map(draft_schedule, [store, store])]

    assert store.create(births) == [True, False]

    assert view_of(store).schedule == births[0].schedule


def test_a_schedule_that_is_created_again_stays_as_it_is(store: Store) -> None:
    """A repeated birth counts as done, after any change of the schedule."""
    schedule = draft_schedule(store)
    birth = started(schedule, at=schedule.created_at)
    assert store.create([birth, birth]) == [True, True]
    to = schedule.definition.edited(note="edited")
    perform(store, plan_edit, to=to)
    before = view_of(store)

    assert store.create([birth]) == [True]

    assert view_of(store) == before
    assert len(history_of(store, schedule)) == len(birth.rows)


def test_a_name_is_free_again_once_its_schedule_is_deleted(store: Store) -> None:
    """A deleted schedule keeps its row, but neither its name nor its place in the views."""
    waiting_schedule(store)
    perform(store, plan_delete)
    assert store.views(["billing"]).value == []

    view = due_schedule(store)

    assert view_of(store) == view


def test_names_are_told_apart_by_case_and_accent(store: Store) -> None:
    """Names are compared as exact text, not by a collation."""
    names = ["billing", "Billing", "bílling", "billing ß", "billing ss", "請求"]

    births = [Birth(draft_schedule(store, name)) for name in names]
    assert store.create(births) == [True] * len(names)

    for birth in births:
        assert view_of(store, birth.schedule.name).schedule == birth.schedule


def test_views_are_of_names_that_exist(store: Store) -> None:
    """Unknown names are left out, and no name at all is no view at all."""
    view = due_schedule(store)

    assert store.views(["nobody", "billing", "bill", "billing%"]).value == [view]
    assert store.views([]).value == []


def test_the_stores_now_is_utc_and_does_not_go_back(store: Store) -> None:
    """Every read returns its time, by one clock, in UTC."""
    readings = [store.views([]).now, store.last_pass().now, store.sessions().now]
    readings += [store.candidates([]).now, store.slice(after="", limit=1).now]

    assert readings == sorted(readings)
    assert {now.tzinfo for now in readings} == {UTC}


def test_a_view_has_what_lives_and_runs(store: Store) -> None:
    """The view has a running row and its successor, and no rows of other schedules."""
    running = due_schedule(store).rows[0]
    waiting_schedule(store, "other")
    claimed(store, running.id, session_of(store))

    view = view_of(store)

    assert {row.state for row in view.rows} == {State.RUNNING, State.PENDING}
    assert {row.schedule_id for row in view.rows} == {view.schedule.id}


def test_a_slot_skipped_in_advance_is_in_the_view(store: Store) -> None:
    """Otherwise planning could not see that the slot is taken."""
    slot = waiting_schedule(store).rows[0].run_at + 2 * HOUR
    perform(store, plan_skip, run_at=slot)

    skipped = [row for row in view_of(store).rows if row.state is State.SKIPPED]

    assert [row.run_at for row in skipped] == [slot]


def test_a_view_leaves_out_what_is_over_and_superseded(store: Store) -> None:
    """A row that ended before the next one is due, and one that was replaced, do not matter."""
    execution = claimed(store, due_schedule(store).rows[0].id, session_of(store))
    succeed(store, execution)
    replaced = first_row(store)
    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(priority=1))

    view = view_of(store)

    assert view.rows == (first_row(store),)
    assert replaced.id != view.rows[0].id
    assert read(store, replaced.id).state is State.SUPERSEDED


def test_a_view_has_what_ended_after_a_live_row_was_due(store: Store) -> None:
    """Overlap is judged at the time a row was due, so what ran then is there; what ended is not."""
    schedule = draft_schedule(store)
    birth = started(schedule, at=schedule.created_at)
    due_at = birth.rows[0].due_at
    begun = {"state": State.SUCCEEDED, "started_at": due_at - 10 * MINUTE, "attempt": 1}
    ran, over = (
        row_of(View(schedule), due_at - wait, kind=Kind.MANUAL, finished_at=ended, **begun)
        for wait, ended in [(2 * MINUTE, due_at + MINUTE), (3 * MINUTE, due_at - MINUTE)]
    )
    assert store.create([copy_with(birth, rows=(*birth.rows, ran, over))]) == [True]

    assert {row.id for row in view_of(store).rows} == {birth.rows[0].id, ran.id}
