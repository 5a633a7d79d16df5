"""Reconcile brings a schedule to its one next row, whatever it finds, and then rests."""

from dataclasses import replace

from sempre.domain.planning import (
    plan_delete,
    plan_disable,
    plan_pause,
    plan_reconcile,
    plan_skip,
)
from sempre.domain.states import Kind, State
from sempre.grids import Cron
from tests.unit.domain.builders import Story, at


def test_a_missing_next_row_is_made() -> None:
    story = Story()
    story.rows.clear()
    story.schedule = replace(story.schedule, next_run_at=None)

    plan = story.go("12:00:30").perform(plan_reconcile)

    assert story.next_at == at("12:01")
    assert len(plan.creates) == 1


def test_a_missing_next_row_is_made_at_the_first_undecided_slot_though_it_has_passed() -> None:
    story = Story()
    story.rows.clear()

    story.go("12:30").perform(plan_reconcile)

    assert story.next_at == at("12:01")
    assert story.cursor == at("12:00")
    assert story.ranges == []


def test_a_healthy_schedule_is_left_alone_at_any_time() -> None:
    story = Story()

    for clock in ("12:00", "12:00:30", "12:01", "12:01:30", "23:00"):
        assert story.go(clock).perform(plan_reconcile).is_empty


def test_reconciling_twice_is_reconciling_once() -> None:
    story = Story()
    story.rows.clear()
    story.go("12:30").perform(plan_reconcile)

    assert story.perform(plan_reconcile).is_empty


def test_reconcile_never_moves_cursor_or_revision() -> None:
    story = Story()
    story.rows.clear()
    before = story.schedule

    story.go("15:00").perform(plan_reconcile)

    assert (story.cursor, story.schedule.revision) == (before.cursor, before.revision)


def test_of_two_next_rows_the_right_one_stays() -> None:
    story = Story()
    row = story.next_row
    assert row is not None
    story.rows["x"] = replace(row, id="x", run_at=at("12:05"), due_at=at("12:05"))

    story.perform(plan_reconcile)

    assert story.next_at == at("12:01")
    assert story.rows["x"].state is State.SUPERSEDED


def test_a_next_row_at_a_wrong_slot_is_superseded_and_the_right_one_made_at_once() -> None:
    story = Story()
    row = story.next_row
    assert row is not None
    story.rows[row.id] = replace(row, run_at=at("12:05"), due_at=at("12:05"))

    plan = story.perform(plan_reconcile)

    assert (len(plan.changes), len(plan.creates)) == (1, 1)
    assert [state for state, _ in story.told("12:05")] == ["superseded"]
    assert story.slot("12:05")[0].reason.startswith("drift")
    assert story.next_at == at("12:01")


def test_a_next_run_at_that_is_wrong_on_the_schedule_is_mended() -> None:
    story = Story()
    story.schedule = replace(story.schedule, next_run_at=None)

    story.perform(plan_reconcile)

    assert story.next_at == at("12:01")


def test_a_stray_next_row_of_a_stopped_schedule_is_removed_with_the_reason() -> None:
    for verb, reason in ((plan_disable, "disabled"), (plan_pause, "paused")):
        story = Story()
        row = story.next_row
        story.perform(verb)
        assert row is not None
        story.rows["x"] = replace(row, id="x")

        story.perform(plan_reconcile)

        assert (story.rows["x"].state, story.rows["x"].reason) == (State.SUPERSEDED, reason)


def test_a_due_stray_of_a_stopped_schedule_is_skipped() -> None:
    story = Story()
    row = story.next_row
    story.perform(plan_disable)
    assert row is not None
    story.rows["x"] = replace(row, id="x")

    story.go("12:01:10").perform(plan_reconcile)

    assert story.rows["x"].state is State.SKIPPED


def test_a_deleted_schedule_gets_nothing() -> None:
    story = Story()
    story.perform(plan_delete)

    assert story.go("12:30").perform(plan_reconcile).is_empty


def test_a_schedule_whose_grid_never_fires_again_has_ended() -> None:
    story = Story(Cron("0 0 29 2 *"), until=at("13:00"))

    assert story.next_at is None
    assert story.perform(plan_reconcile).is_empty


def test_all_slots_taken_out_until_the_end_leave_no_next_row() -> None:
    story = Story(until=at("12:02"))
    for clock in ("12:01", "12:02"):
        story.perform(plan_skip, run_at=at(clock))

    assert story.next_at is None


def test_other_kinds_of_rows_are_no_next_row() -> None:
    story = Story()
    row = story.next_row
    assert row is not None
    story.rows = {
        kind.value: replace(row, id=kind.value, kind=kind)
        for kind in Kind
        if kind is not Kind.SCHEDULED
    }

    story.perform(plan_reconcile)

    assert story.next_at == at("12:01")
    assert all(story.rows[kind.value].is_live for kind in Kind if kind is not Kind.SCHEDULED)


def test_a_retry_is_no_next_row() -> None:
    story = Story(retry=1).go("12:01")
    story.fail(story.claim())
    for row in story.slot("12:02"):
        del story.rows[row.id]

    story.perform(plan_reconcile)

    assert story.next_at == at("12:02")


def test_a_disabled_schedule_with_nothing_left_is_left_alone() -> None:
    story = Story()
    story.perform(plan_disable)

    assert story.go("13:00").perform(plan_reconcile).is_empty
