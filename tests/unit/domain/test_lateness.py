"""Lateness counts from when a row could have started; what is within the tolerance still runs."""

from datetime import timedelta

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_trigger
from sempre.domain.states import Kind, State
from tests.unit.domain.builders import LEASE, Story, at, gap


def _run_for(story: Story, minutes: float) -> Execution:
    """Let the next row run for some minutes."""
    row = story.claim()
    story.now += timedelta(minutes=minutes)
    return story.succeed(row)


# Waiting for an earlier run


def test_a_long_run_delays_the_slots_that_wait_for_it_and_loses_none() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")
    _run_for(story, 12)

    ran = [_run_for(story, 1).run_at for _ in range(2)]

    assert ran == [at("00:10"), at("00:15")]
    assert story.ranges == []
    assert story.next_at == at("00:20")


def test_a_chain_of_long_runs_loses_no_slot_however_far_it_falls_behind() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")

    ran = [_run_for(story, 12).run_at for _ in range(40)]

    assert ran == [at("00:05") + number * timedelta(minutes=5) for number in range(40)]
    assert story.ranges == []


def test_a_chain_survives_that_its_older_runs_are_purged() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")

    for _ in range(20):
        done = _run_for(story, 12)
        story.rows = {row.id: row for row in story.rows.values() if row.is_live or row == done}

    assert story.ranges == []


def test_short_pauses_between_the_runs_of_a_chain_do_not_add_up() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")

    for _ in range(20):
        _run_for(story, 12)
        story.now += timedelta(seconds=50)

    assert story.ranges == []


def test_downtime_after_the_run_that_a_row_waited_for_is_downtime() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")
    _run_for(story, 12)

    story.go("01:02").claim()

    assert story.slot("00:10")[0].state is State.RUNNING
    assert story.ranges == [gap("00:15", "01:00", 10, "missed")]
    assert story.next_at == at("01:05")


def test_a_run_that_begins_after_the_downtime_does_not_excuse_it() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:06")
    _run_for(story, 1)
    story.go("01:00:10").apply(plan_trigger(story.schedule, story.moment))
    [manual] = story.of_kind(Kind.MANUAL)
    story.claim(manual)
    story.go("01:03").succeed(manual)

    story.claim()

    assert story.slot("00:10")[0].state is State.RUNNING
    assert story.ranges == [gap("00:15", "01:00", 10, "missed")]


def test_a_run_whose_worker_died_with_the_whole_fleet_does_not_excuse_the_downtime() -> None:
    story = Story("5m", overlap="wait", now="00:00").go("00:05")
    lost = story.claim()
    story.go("03:00:10")
    story.rescue(lost)

    story.claim()

    assert story.slot("00:10")[0].state is State.RUNNING
    assert story.ranges == [gap("00:15", "02:55", 33, "missed")]
    assert story.next_at == at("03:00")


def test_an_attempt_whose_lease_ran_out_ended_then_and_not_when_it_was_found() -> None:
    story = Story("5m").go("00:05", days=1)
    lost = story.claim()
    story.go("03:00", days=1)

    found = story.rescue(lost)

    assert found.finished_at == at("00:05", days=1) + LEASE


def test_a_row_that_waits_for_nothing_is_late_by_its_due_time_alone() -> None:
    story = Story("5m", overlap="allow", now="00:00").go("00:05")
    _run_for(story, 12)

    story.claim()

    assert story.ranges == [gap("00:15", "00:15", 1, "missed")]


def test_slots_that_a_skipping_schedule_was_asked_not_to_run_are_not_made_up_for() -> None:
    story = Story("5m", overlap="skip", now="00:00").go("00:05")
    _run_for(story, 12)

    row = story.claim()

    assert (row.state, row.reason) == (State.SKIPPED, "overlap")
    assert story.ranges == [gap("00:15", "00:15", 1, "missed")]
    assert story.next_at == at("00:20")


def test_a_deadline_still_counts_from_the_due_time() -> None:
    story = Story("5m", overlap="wait", deadline="3m", now="00:00").go("00:05")
    _run_for(story, 12)

    row = story.claim()

    assert (row.state, row.run_at) == (State.MISSED, at("00:10"))
    assert story.ranges == []
    assert story.next_at == at("00:15")


# Within the tolerance


def test_back_ten_seconds_after_midnight_todays_slot_runs_too() -> None:
    story = Story("1d").go("00:00:10", days=3)

    ran = [story.run().run_at for _ in range(2)]

    assert ran == [at("00:00", days=1), at("00:00", days=3)]
    assert [(found.first, found.count) for found in story.ranges] == [(at("00:00", days=2), 1)]
    assert story.next_at == at("00:00", days=4)


def test_a_slot_exactly_as_old_as_the_tolerance_still_runs() -> None:
    story = Story("10s").go("12:05:00")

    story.claim()

    assert story.ranges == [gap("12:00:20", "12:03:50", 22, "missed")]
    assert story.next_at == at("12:04:00")


@pytest.mark.parametrize("policy", [{"catch_up_max": 0}, {"catch_up_within": "1s"}])
def test_no_bound_of_catch_up_drops_what_is_within_the_tolerance(policy: dict[str, object]) -> None:
    story = Story("10m", catch_up=True, **policy).go("13:00:30")

    story.claim()

    assert story.ranges == [gap("12:20", "12:50", 4, "missed")]
    assert story.next_at == at("13:00")


def test_what_is_past_its_deadline_is_missed_even_within_the_tolerance() -> None:
    story = Story("10s", deadline="5s").go("12:05:07")

    story.claim()

    assert story.ranges == [gap("12:00:20", "12:05:00", 29, "missed")]
    assert story.next_at == at("12:05:10")


def test_a_slot_that_jitter_makes_due_within_the_tolerance_still_runs() -> None:
    story = Story("10m", jitter="9m")
    due = {}
    for clock in ("12:20", "12:30", "12:40", "12:50"):
        story_at = Story("10m", jitter="9m", now="12:10")
        while story_at.next_at != at(clock):
            assert story_at.next_row is not None
            story_at.now = story_at.next_row.due_at
            story_at.run()
        assert story_at.next_row is not None
        due[clock] = story_at.next_row.due_at
    clock = next(each for each, instant in due.items() if instant > at(each) + timedelta(minutes=2))
    story.now = due[clock] + timedelta(seconds=5)

    story.claim()

    assert story.next_at == at(clock)
