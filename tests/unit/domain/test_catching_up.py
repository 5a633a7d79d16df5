"""Lateness: what a downtime leaves behind is caught up or recorded as missed, never forgotten."""

import pytest

from sempre.domain.planning import plan_pause, plan_resume, plan_skip
from sempre.domain.states import State
from sempre.errors import InvalidInput
from sempre.grids import Cron, Every
from tests.unit.domain.builders import Story, at, gap


def test_without_catch_up_the_waiting_run_still_runs_and_the_rest_is_one_range() -> None:
    story = Story().go("12:30:10")

    row = story.claim()

    assert row.state is State.RUNNING
    assert row.run_at == at("12:01")
    assert story.ranges == [gap("12:02", "12:29", 28, "missed")]
    assert story.cursor == at("12:29")
    assert story.next_at == at("12:30")


def test_a_slot_at_this_very_instant_is_not_missed_but_next() -> None:
    story = Story(tolerance=0).go("12:30")

    story.claim()

    assert story.ranges == [gap("12:02", "12:29", 28, "missed")]
    assert story.cursor == at("12:29")
    assert story.next_at == at("12:30")


def test_late_with_no_slot_between_records_nothing() -> None:
    story = Story("1h").go("13:20")

    story.claim()

    assert story.ranges == []
    assert story.cursor == at("13:00")
    assert story.next_at == at("14:00")


def test_a_microsecond_beyond_the_tolerance_is_late() -> None:
    story = Story("10s").go("12:01:20.000001")

    story.claim()

    assert story.ranges == [gap("12:00:20", "12:00:20", 1, "missed")]
    assert story.next_at == at("12:00:30")


def test_with_no_tolerance_any_lateness_counts() -> None:
    story = Story("10s", tolerance=0).go("12:00:25")

    story.claim()

    assert story.ranges == [gap("12:00:20", "12:00:20", 1, "missed")]
    assert story.next_at == at("12:00:30")


def test_a_day_of_downtime_of_a_one_second_schedule_is_one_range() -> None:
    story = Story("1s").go("12:00:00", days=1)

    row = story.claim()

    assert row.run_at == at("12:00:01")
    (found,) = story.ranges
    assert (found.count, found.reason) == (86_338, "missed")
    assert found.first == at("12:00:02")
    assert story.cursor == found.last == at("11:58:59", days=1)
    assert story.next_at == at("11:59:00", days=1)


def test_a_month_of_downtime_of_a_one_second_cron_is_one_range_too() -> None:
    story = Story(Cron("* * * * * *")).go("12:00:00", days=27)

    story.claim()

    (found,) = story.ranges
    assert found.count == 27 * 86_400 - 62


def test_with_catch_up_every_slot_runs_in_order_one_at_a_time() -> None:
    story = Story("10m", catch_up=True).go("13:05")

    ran = []
    for _ in range(6):
        ran.append(story.run().run_at)
        waiting = [row for row in story.rows.values() if row.is_live]
        assert len(waiting) == 1

    clocks = ("12:10", "12:20", "12:30", "12:40", "12:50", "13:00")
    assert ran == [at(clock) for clock in clocks]
    assert story.ranges == []
    assert story.next_at == at("13:10")


def test_slots_being_caught_up_are_due_at_once_and_without_jitter() -> None:
    story = Story("10m", catch_up=True, jitter="5m").go("13:05")

    story.claim()

    row = story.next_row
    assert row is not None
    assert row.due_at == row.run_at == at("12:20")


def test_catch_up_goes_back_no_further_than_its_window() -> None:
    story = Story("10m", catch_up=True, catch_up_within="20m").go("13:05")

    row = story.claim()

    assert row.run_at == at("12:10")
    assert story.ranges == [gap("12:20", "12:40", 3, "missed")]
    assert story.cursor == at("12:40")
    assert story.next_at == at("12:50")


def test_a_slot_exactly_as_old_as_the_window_is_caught_up() -> None:
    story = Story("10m", catch_up=True, catch_up_within="20m").go("13:10")

    story.claim()

    assert story.next_at == at("12:50")


def test_catch_up_takes_the_newest_so_many_besides_the_waiting_one() -> None:
    story = Story("10m", catch_up=True, catch_up_max=2).go("13:05")

    ran = [story.run().run_at for _ in range(3)]

    assert ran == [at("12:10"), at("12:50"), at("13:00")]
    assert story.ranges == [gap("12:20", "12:40", 3, "missed")]
    assert story.next_at == at("13:10")


def test_catch_up_of_at_most_none_runs_the_waiting_one_only() -> None:
    story = Story("10m", catch_up=True, catch_up_max=0).go("13:05")

    story.claim()

    assert story.ranges == [gap("12:20", "13:00", 5, "missed")]
    assert story.next_at == at("13:10")


def test_fewer_slots_than_the_maximum_are_all_caught_up() -> None:
    story = Story("10m", catch_up=True, catch_up_max=9).go("13:05")

    story.claim()

    assert story.ranges == []
    assert story.next_at == at("12:20")


@pytest.mark.parametrize(
    ("within", "most", "following"),
    [("40m", 2, "12:50"), ("10m", 4, "13:00"), ("1d", 99, "12:20")],
)
def test_the_narrower_of_window_and_maximum_decides(within: str, most: int, following: str) -> None:
    story = Story("10m", catch_up=True, catch_up_within=within, catch_up_max=most).go("13:05")

    story.claim()

    assert story.next_at == at(following)


def test_bounds_of_catch_up_mean_nothing_within_the_tolerance() -> None:
    story = Story("10s", catch_up=True, catch_up_max=0, catch_up_within="1s").go("12:00:55")

    story.claim()

    assert story.ranges == []
    assert story.next_at == at("12:00:20")


@pytest.mark.parametrize(
    "most",
    [
        10**6,
        2**31 - 1,
        pytest.param(10**11),
        pytest.param(10**18),
    ],
)
def test_any_maximum_that_was_accepted_lets_the_claim_happen(most: int) -> None:
    try:
        story = Story("10m", catch_up=True, catch_up_max=most).go("13:05")
    except InvalidInput:
        return

    story.claim()

    assert story.next_at == at("12:20")


def test_a_slot_taken_out_in_advance_cuts_a_range_in_two() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:05"))
    story.go("12:09:30")

    story.claim()

    assert story.ranges == [gap("12:02", "12:04", 3, "missed"), gap("12:06", "12:08", 3, "missed")]
    assert story.told("12:05") == [("skipped", "requested")]


def test_a_slot_taken_out_in_advance_is_passed_over_by_catch_up() -> None:
    story = Story("10m", catch_up=True)
    story.perform(plan_skip, run_at=at("12:20"))
    story.go("13:05").claim()

    assert story.next_at == at("12:30")
    assert story.ranges == []


def test_paused_slots_are_not_caught_up() -> None:
    story = Story("10m", catch_up=True).go("12:15")
    story.run()
    story.perform(plan_pause, until=at("12:55"))

    story.go("13:25").claim()

    assert story.slot("13:00")[0].state is State.RUNNING
    assert [(found.reason, found.count) for found in story.ranges] == [("paused", 4)]
    assert story.next_at == at("13:10")


def test_slots_of_an_ended_pause_are_not_caught_up_either() -> None:
    story = Story("10m", catch_up=True).go("12:05")
    story.perform(plan_pause)

    story.go("13:05").perform(plan_resume)

    assert story.ranges == [gap("12:10", "13:00", 6, "paused")]
    assert story.next_at == at("13:10")


def test_after_the_last_slot_of_all_nothing_is_missed_beyond_it() -> None:
    story = Story(until=at("12:05")).go("12:30")

    story.claim()

    assert story.ranges == [gap("12:02", "12:05", 4, "missed")]
    assert story.next_at is None


def test_a_late_claim_on_a_calendar_grid_keeps_the_wall_clock() -> None:
    rome = Every("1 day", anchor="2026-01-01 14:05", timezone="Europe/Rome")
    story = Story(rome).go("12:00", days=3)

    story.claim()

    assert story.ranges[0].first == at("12:05", days=1)
    assert (story.ranges[0].count, story.next_at) == (2, at("12:05", days=3))
