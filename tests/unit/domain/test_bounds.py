"""Deadline, limit, until and jitter: how late, how often, how long, and how spread out."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from sempre.domain.planning import Verdict, due_at, plan_pause, plan_trigger
from sempre.domain.states import Kind, State
from sempre.errors import InvalidInput
from sempre.grids import Cron, Every
from tests.unit.domain.builders import Story, at, gap

TICK = timedelta(microseconds=1)


def test_a_row_not_started_by_its_deadline_is_missed() -> None:
    story = Story("1h", deadline="5m").go("13:05:00.000001")

    row = story.claim()

    assert (row.state, row.reason) == (State.MISSED, "deadline")
    assert story.cursor == at("13:00")
    assert story.next_at == at("14:00")
    assert story.schedule.starts == 0


def test_a_row_may_start_at_its_very_deadline() -> None:
    assert Story("1h", deadline="5m").go("13:05").claim().state is State.RUNNING


def test_all_slots_past_their_deadline_are_one_range_and_the_next_one_runs() -> None:
    story = Story(deadline="3m").go("12:10:30")

    row = story.claim()

    assert (row.run_at, row.state) == (at("12:01"), State.MISSED)
    assert story.ranges == [gap("12:02", "12:07", 6, "missed")]
    assert story.next_at == at("12:08")
    assert story.claim().state is State.RUNNING


@pytest.mark.parametrize("catch_up", [False, True])
def test_a_missed_deadline_costs_one_decision_however_long_it_was_down(*, catch_up: bool) -> None:
    story = Story("1s", deadline="10s", catch_up=catch_up).go("12:00:00", days=1)

    story.claim()

    (found,) = story.ranges
    assert found.count == 86_388
    assert story.next_at == at("11:59:50", days=1)


def test_late_but_within_the_deadline_the_row_runs() -> None:
    story = Story(deadline="1h").go("12:30:30")

    assert story.claim().state is State.RUNNING
    assert story.ranges == [gap("12:02", "12:29", 28, "missed")]


def test_the_deadline_counts_from_the_start_that_was_due() -> None:
    story = Story("10m", jitter="5m", deadline="1m")
    row = story.next_row
    assert row is not None
    story.now = row.due_at + timedelta(minutes=1)

    assert row.due_at > row.run_at
    assert story.ask().verdict is Verdict.START
    story.now += TICK
    assert story.ask().verdict is Verdict.MISS


def test_a_retry_has_no_deadline() -> None:
    story = Story("1h", deadline="5m", retry=1).go("13:00")
    row = story.fail(story.claim())

    assert story.go("13:30").claim(row).state is State.RUNNING


def test_a_released_row_has_no_deadline() -> None:
    story = Story("1h", deadline="5m").go("13:00")
    row = story.release(story.claim())

    assert story.go("13:30").claim(row).state is State.RUNNING


def test_a_row_that_waited_for_another_beyond_its_deadline_is_missed() -> None:
    story = Story(deadline="30s", overlap="wait").go("12:01")
    blocker = story.claim()
    assert story.go("12:02").ask().verdict is Verdict.WAIT
    story.go("12:02:31").succeed(blocker)

    assert story.claim().state is State.MISSED


def test_the_deadline_in_force_is_that_of_the_row() -> None:
    story = Story("1h", deadline="5m").go("13:02")
    story.edit(deadline=None)

    assert story.go("13:10").claim().state is State.MISSED


def test_the_start_that_reaches_the_limit_has_no_successor() -> None:
    story = Story(limit=2)
    for clock in ("12:01", "12:02"):
        story.go(clock).run()

    assert story.schedule.starts == 2
    assert story.next_at is None


def test_the_start_that_reaches_the_limit_supersedes_a_next_row_that_is_there() -> None:
    story = Story(limit=1).go("12:01:10")
    due = story.next_row
    story.edit(grid=Every("5m"))
    assert due is not None
    assert story.next_at == at("12:05")

    story.claim(story.rows[due.id])

    assert story.next_at is None
    assert story.told("12:05") == [("superseded", "limit")]


def test_the_limit_is_checked_at_every_first_start() -> None:
    story = Story(limit=5).go("12:01:10")
    due = story.next_row
    story.edit(grid=Every("5m"))
    story.edit(limit=1)
    story.schedule = replace(story.schedule, starts=1)
    assert due is not None

    row = story.claim(story.rows[due.id])

    assert (row.state, row.reason) == (State.SKIPPED, "limit")
    assert story.schedule.starts == 1


def test_skipped_missed_and_manual_rows_do_not_use_up_the_limit() -> None:
    story = Story(limit=2, deadline="30s").go("12:01:31")
    assert story.claim().state is State.MISSED
    story.apply(plan_trigger(story.schedule, story.moment))
    manual = story.claim(story.of_kind(Kind.MANUAL)[0])
    assert story.go("12:02").claim().state is State.SKIPPED
    story.succeed(manual)

    assert story.schedule.starts == 0
    assert story.next_at == at("12:03")


def test_an_ended_schedule_can_still_be_triggered_and_retried() -> None:
    story = Story(limit=1, retry=1).go("12:01")
    row = story.fail(story.claim())
    story.apply(plan_trigger(story.schedule, story.moment))

    assert story.ask(story.of_kind(Kind.MANUAL)[0]).verdict is Verdict.START
    assert story.go("12:05").claim(row).state is State.RUNNING


def test_a_late_start_that_reaches_the_limit_leaves_the_slots_before_it_missed() -> None:
    story = Story(limit=1).go("12:30:30")

    story.claim()

    assert {found.reason for found in story.ranges} <= {"missed"}
    assert story.next_at is None


def test_slots_of_a_pause_stay_paused_though_the_next_start_reaches_the_limit() -> None:
    story = Story(limit=1).go("12:00:30")
    story.perform(plan_pause, until=at("12:05"))

    story.go("12:05").claim()

    assert story.ranges == [gap("12:01", "12:04", 4, "paused")]


def test_a_raised_limit_goes_on_from_now_and_the_slots_between_had_ended() -> None:
    story = Story(limit=1).go("12:01")
    story.run()

    story.go("12:05:30").edit(limit=2)

    assert story.ranges == [gap("12:02", "12:05", 4, "ended")]
    assert story.next_at == at("12:06")


def test_until_is_inclusive() -> None:
    story = Story(until=at("12:02")).go("12:01")
    story.run()
    assert story.next_at == at("12:02")

    story.go("12:02").run()

    assert story.next_at is None
    assert story.cursor == at("12:02")


def test_a_slot_a_moment_after_until_is_none() -> None:
    assert Story(until=at("12:01") - TICK).next_at is None


def test_until_bounds_the_slot_not_its_start() -> None:
    story = Story("10m", jitter="5m", until=at("12:10"))
    row = story.next_row

    assert row is not None
    assert row.due_at > at("12:10")
    story.now = row.due_at
    assert story.claim().state is State.RUNNING


def test_a_later_end_goes_on_from_now_and_the_slots_between_had_ended() -> None:
    story = Story(until=at("12:02"))
    for clock in ("12:01", "12:02"):
        story.go(clock).run()

    story.go("12:05:30").edit(until=at("12:07"))

    assert story.ranges == [gap("12:03", "12:05", 3, "ended")]
    assert story.next_at == at("12:06")


def test_jitter_delays_the_start_and_never_the_slot() -> None:
    row = Story("10m", jitter="2m").next_row

    assert row is not None
    assert row.run_at == at("12:10")
    assert at("12:10") < row.due_at < at("12:12")


def test_jitter_is_the_same_on_every_worker_and_at_every_look() -> None:
    one, other = Story("10m", jitter="5m"), Story("10m", jitter="5m", now="12:03")

    assert one.next_row is not None
    assert other.next_row is not None
    assert one.next_row.due_at == other.next_row.due_at


def test_jitter_is_spread_over_slots_and_schedules() -> None:
    story = Story("10m", jitter="9m")
    slots = story.schedule.definition.grid.times(at("12:00"), 200)
    named = replace(story.schedule, name="other")

    spread = [due_at(story.schedule, slot, now=at("12:00")) - slot for slot in slots]
    others = [due_at(named, slot, now=at("12:00")) - slot for slot in slots]

    assert len(set(spread)) > 190
    assert spread != others
    assert max(spread) < timedelta(minutes=9)
    assert min(spread) >= timedelta(0)
    assert timedelta(minutes=4) < sum(spread, timedelta(0)) / 200 < timedelta(minutes=5)


@pytest.mark.parametrize("grid", [Every("1s"), Every("7m"), Cron("0,1 * * * *")])
def test_jitter_never_reaches_the_next_slot(grid: Every | Cron) -> None:
    story = Story(grid, jitter="1d")
    slots = grid.times(at("12:00"), 100)

    for slot, following in pairwise(slots):
        assert slot <= due_at(story.schedule, slot, now=at("12:00")) < following


def test_manual_runs_have_no_jitter() -> None:
    story = Story("10m", jitter="5m").go("12:03")
    story.apply(plan_trigger(story.schedule, story.moment))

    (manual,) = story.of_kind(Kind.MANUAL)
    assert manual.due_at == manual.run_at == at("12:03")


def test_an_edit_in_its_jitter_leaves_a_slot_when_it_was_due() -> None:
    story = Story("10m", jitter="5m")
    row = story.next_row
    assert row is not None
    story.now = row.run_at + (row.due_at - row.run_at) / 2

    story.edit(args={"n": 1})

    again = story.next_row
    assert again is not None
    assert (again.run_at, again.due_at) == (row.run_at, row.due_at)


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("deadline"),
        pytest.param("catch_up_within"),
        "jitter",
        "tolerance",
    ],
)
def test_any_duration_that_was_accepted_lets_the_claim_happen(field: str) -> None:
    policies = {"catch_up": True, field: timedelta.max}
    try:
        story = Story("10m", **policies)
    except InvalidInput:
        return
    assert story.next_row is not None
    story.now = story.next_row.due_at + timedelta(hours=2)

    assert story.claim().state is State.RUNNING
