"""Single slots: taken out in advance, put back, run by hand."""

from datetime import UTC, timedelta, timezone

import pytest

from sempre.domain.planning import (
    plan_delete,
    plan_disable,
    plan_pause,
    plan_skip,
    plan_trigger,
    plan_unskip,
)
from sempre.domain.states import Kind, State
from sempre.errors import InstantError, Refused
from sempre.grids import Cron
from tests.unit.domain.builders import Story, at

EAST = timezone(timedelta(hours=2))


def test_skipping_the_next_slot_supersedes_its_row_and_places_the_one_after() -> None:
    story = Story().go("12:00:30")

    story.perform(plan_skip, run_at=at("12:01"), actor="ada")

    assert story.told("12:01") == [("superseded", "requested"), ("skipped", "requested")]
    assert story.slot("12:01")[1].actor == "ada"
    assert story.next_at == at("12:02")
    assert story.cursor == at("12:00")


def test_skipping_a_later_slot_leaves_the_next_row_alone() -> None:
    story = Story()
    before = story.next_row

    story.perform(plan_skip, run_at=at("12:05"))

    assert story.next_row == before
    assert story.told("12:05") == [("skipped", "requested")]


def test_a_skipped_slot_is_passed_over_and_accounted_for() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:02"))

    story.go("12:01").run()
    assert story.next_at == at("12:03")
    story.go("12:03").run()

    assert story.ranges == []
    assert story.cursor == at("12:03")


def test_skipping_again_does_nothing() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:02"))

    assert story.perform(plan_skip, run_at=at("12:02")).is_empty


@pytest.mark.parametrize("clock", ["12:01", "12:01:30"])
def test_a_slot_that_is_not_in_the_future_cannot_be_skipped(clock: str) -> None:
    story = Story().go(clock)

    with pytest.raises(Refused, match="not in the future"):
        story.perform(plan_skip, run_at=at("12:01"))


def test_an_instant_off_the_grid_cannot_be_skipped_and_the_next_slot_is_named() -> None:
    with pytest.raises(Refused, match="12:02Z"):
        Story().perform(plan_skip, run_at=at("12:01:30"))


def test_skip_and_unskip_are_one_revision_each() -> None:
    story = Story()
    before = story.schedule.revision

    story.perform(plan_skip, run_at=at("12:02"))
    story.perform(plan_unskip, run_at=at("12:02"))

    assert story.schedule.revision == before + 2


@pytest.mark.parametrize("verb", [plan_skip, plan_unskip])
def test_an_instant_without_a_zone_is_refused_as_bad_input(verb: object) -> None:
    with pytest.raises(InstantError):
        Story().perform(verb, run_at=at("12:01").replace(tzinfo=None))  # type: ignore[arg-type]


def test_a_slot_named_in_another_zone_is_kept_in_utc() -> None:
    story = Story()

    story.perform(plan_skip, run_at=at("12:02").astimezone(EAST))

    (row,) = story.slot("12:02")
    assert row.run_at.tzinfo is UTC
    assert row.key == "billing:2026-05-04T12:02:00+00:00"


def test_unskip_puts_the_slot_back_as_next_row() -> None:
    story = Story().go("12:00:10")
    story.perform(plan_skip, run_at=at("12:01"))

    story.perform(plan_unskip, run_at=at("12:01"))

    assert [state for state, _ in story.told("12:01")] == ["superseded", "superseded", "pending"]
    assert [state for state, _ in story.told("12:02")] == ["superseded"]
    assert story.next_at == at("12:01")
    assert story.cursor == at("12:00")


def test_unskip_of_a_later_slot_leaves_the_next_row_alone() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:05"))
    before = story.next_row

    story.perform(plan_unskip, run_at=at("12:05"))

    assert story.next_row == before
    assert [state for state, _ in story.told("12:05")] == ["superseded"]


def test_unskip_of_what_is_not_skipped_does_nothing() -> None:
    assert Story().perform(plan_unskip, run_at=at("12:05")).is_empty
    assert Story().perform(plan_unskip, run_at=at("12:00:17")).is_empty


def test_unskip_of_a_slot_that_has_passed_is_refused() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:02"))

    with pytest.raises(Refused, match="not in the future"):
        story.go("12:02").perform(plan_unskip, run_at=at("12:02"))

    assert story.told("12:02") == [("skipped", "requested")]


def test_a_slot_put_back_by_a_process_with_older_zones_runs() -> None:
    story = Story().go("12:00:10")
    story.perform(plan_skip, run_at=at("12:01"))
    story.tzdata = "2025.9"

    story.perform(plan_unskip, run_at=at("12:01"))

    assert story.next_at == at("12:01")


def clock_set_back() -> Story:
    """Return a schedule that had decided all slots up to 12:30 when its clock went back to 12:20.

    Of those, 12:25 was taken out in advance.
    """
    story = Story()
    story.perform(plan_skip, run_at=at("12:25"))
    story.go("12:30:30").run()
    return story.go("12:20")


def test_after_the_clock_was_set_back_a_decided_slot_cannot_be_skipped() -> None:
    story = clock_set_back()

    with pytest.raises(Refused):
        story.perform(plan_skip, run_at=at("12:22"))


def test_after_the_clock_was_set_back_a_decided_slot_cannot_be_put_back() -> None:
    story = clock_set_back()

    with pytest.raises(Refused):
        story.perform(plan_unskip, run_at=at("12:25"))


@pytest.mark.parametrize("verb", [None, plan_disable, plan_pause])
def test_trigger_makes_a_row_that_is_due_now_whatever_the_schedule_is(verb: object) -> None:
    story = Story()
    if verb:
        story.perform(verb)  # type: ignore[arg-type]
    before = story.go("12:00:17").schedule

    story.apply(plan_trigger(story.schedule, story.moment, actor="ada"))

    (row,) = story.of_kind(Kind.MANUAL)
    assert (row.run_at, row.due_at, row.actor) == (at("12:00:17"), at("12:00:17"), "ada")
    assert row.snapshot == story.schedule.snapshot()
    assert story.schedule == before
    assert story.claim(row).state is State.RUNNING


def test_each_manual_run_has_a_key_of_its_own_and_a_slot_only_one() -> None:
    story = Story()
    for _ in range(2):
        story.apply(plan_trigger(story.schedule, story.moment))

    keys = {row.key for row in story.rows.values()}

    assert len(keys) == 3
    assert "billing:2026-05-04T12:01:00+00:00" in keys


@pytest.mark.parametrize("run_at", ["12:01", "12:02"])
def test_nothing_is_skipped_of_a_deleted_schedule(run_at: str) -> None:
    story = Story(Cron("* * * * *"))
    story.perform(plan_delete)

    try:
        story.perform(plan_skip, run_at=at(run_at))
    except Refused:
        return
    assert "skipped" not in [state for state, _ in story.told(run_at)]
