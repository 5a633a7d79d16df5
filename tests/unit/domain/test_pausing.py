"""Pause and resume: an operator's stop, with an end or without, apart from the definition."""

import pytest

from sempre.domain.planning import plan_disable, plan_enable, plan_pause, plan_resume
from sempre.domain.states import State
from sempre.errors import InstantError, Refused
from tests.unit.domain.builders import Story, at, gap


def test_pause_until_places_the_next_row_at_the_first_slot_from_then_on() -> None:
    story = Story("10m").go("12:05")

    story.perform(plan_pause, until=at("12:35"))

    assert story.told("12:10") == [("superseded", "paused")]
    assert story.next_at == at("12:40")


def test_a_slot_at_the_very_end_of_the_pause_runs() -> None:
    story = Story("10m").go("12:05")

    story.perform(plan_pause, until=at("12:30"))

    assert story.next_at == at("12:30")
    assert story.go("12:30").claim().state is State.RUNNING
    assert story.ranges == [gap("12:10", "12:20", 2, "paused")]


def test_a_pause_that_ends_before_the_next_row_leaves_it_alone() -> None:
    story = Story("10m").go("12:01")
    before = story.next_row

    story.perform(plan_pause, until=at("12:05"))

    assert story.next_row == before


def test_pausing_the_same_way_again_does_nothing() -> None:
    story = Story()
    story.perform(plan_pause, until=at("12:30"), note="upgrade", actor="ada")

    again = story.go("12:10").perform(plan_pause, until=at("12:30"), note="upgrade", actor="ada")

    assert again.is_empty


def test_an_open_pause_can_be_given_an_end() -> None:
    story = Story().go("12:00:30")
    story.perform(plan_pause)

    story.go("12:10:30").perform(plan_pause, until=at("12:20"))

    assert story.next_at == at("12:20")
    assert story.ranges == [gap("12:01", "12:10", 10, "paused")]


@pytest.mark.parametrize("clock", ["12:00", "11:59"])
def test_a_pause_must_end_in_the_future(clock: str) -> None:
    story = Story()

    with pytest.raises(Refused, match="not in the future"):
        story.perform(plan_pause, until=at(clock))


def test_a_pause_until_an_instant_without_zone_is_refused_as_bad_input() -> None:
    with pytest.raises(InstantError):
        Story().perform(plan_pause, until=at("13:00").replace(tzinfo=None))


def test_resume_goes_on_from_now_and_records_what_passed() -> None:
    story = Story().go("12:01")
    story.run()
    story.perform(plan_pause, until=at("15:00"))

    story.go("12:10:30").perform(plan_resume)

    assert story.schedule.pause is None
    assert story.ranges == [gap("12:02", "12:10", 9, "paused")]
    assert story.next_at == at("12:11")


@pytest.mark.parametrize("clock", ["12:00:30", "12:20"])
def test_resuming_what_is_not_paused_does_nothing(clock: str) -> None:
    story = Story()
    if clock == "12:20":
        story.perform(plan_pause, until=at("12:10"))

    assert story.go(clock).perform(plan_resume).is_empty


def test_enabled_and_pause_must_both_allow_a_run() -> None:
    story = Story()
    story.perform(plan_pause)
    story.perform(plan_disable)
    story.perform(plan_enable)

    assert story.schedule.pause is not None
    assert story.next_at is None

    story.perform(plan_disable)
    story.perform(plan_resume)

    assert story.next_at is None
