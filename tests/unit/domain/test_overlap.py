"""Overlap is judged as things were when a row became due, not when somebody got round to it."""

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import Verdict, plan_backfill, plan_trigger
from sempre.domain.states import Kind, State
from tests.unit.domain.builders import Story, at

POLICIES = ["skip", "wait", "allow", "replace"]


def running_since_noon(**policies: object) -> tuple[Story, Execution]:
    """Return a schedule whose slot of 12:01 has been running since then."""
    story = Story(lease=3600, **policies).go("12:01")
    return story, story.claim()


def triggered(story: Story) -> Execution:
    story.apply(plan_trigger(story.schedule, story.moment))
    return story.of_kind(Kind.MANUAL)[-1]


def test_by_default_a_slot_that_comes_during_a_run_is_skipped_and_recorded() -> None:
    story, _ = running_since_noon()

    row = story.go("12:02").claim()

    assert (row.state, row.reason) == (State.SKIPPED, "overlap")
    assert story.cursor == at("12:02")
    assert story.next_at == at("12:03")
    assert story.schedule.starts == 1


def test_a_slot_is_skipped_though_the_run_it_came_into_has_ended_since() -> None:
    story, blocker = running_since_noon()
    story.go("12:02:10").succeed(blocker)

    row = story.go("12:02:20").claim()

    assert (row.state, row.reason) == (State.SKIPPED, "overlap")


def test_a_run_that_ended_before_the_slot_came_is_no_overlap() -> None:
    story, blocker = running_since_noon()
    story.go("12:01:59").succeed(blocker)

    assert story.go("12:02").claim().state is State.RUNNING


def test_a_run_that_ended_at_that_very_instant_is_no_overlap() -> None:
    story, blocker = running_since_noon()
    story.go("12:02").succeed(blocker)

    assert story.claim().state is State.RUNNING


@pytest.mark.parametrize("rescued", [True, False])
def test_a_run_that_was_lost_before_the_slot_came_is_no_overlap(*, rescued: bool) -> None:
    story = Story().go("12:01")
    lost = story.claim()
    story.go("12:02:05")
    if rescued:
        story.rescue(lost)

    row = story.claim()

    assert row.is_live or row.state is State.RUNNING
    assert row.reason == ""


def test_a_run_that_began_after_the_slot_came_makes_it_wait_not_skip() -> None:
    story = Story().go("12:01:05")
    manual = story.claim(triggered(story))
    assert manual.state is State.RUNNING

    claim = story.go("12:01:10").ask()

    assert claim.verdict is Verdict.WAIT
    assert manual.id in claim.reason
    assert claim.plan.is_empty
    story.succeed(manual)
    assert story.claim().state is State.RUNNING


def test_a_failed_attempt_that_ran_when_the_slot_came_is_an_overlap() -> None:
    story, blocker = running_since_noon(retry=1)
    story.go("12:02:10").fail(blocker)

    assert story.go("12:02:15").claim().reason == "overlap"


def test_an_attempt_that_ran_when_the_slot_came_is_an_overlap_though_another_followed() -> None:
    story, blocker = running_since_noon(retry=1)
    retry = story.go("12:02:10").fail(blocker)
    slot = story.next_row
    assert slot is not None

    assert story.go("12:02:20").claim(retry).state is State.RUNNING

    row = story.rows[slot.id]
    assert (row.state, row.reason) == (State.SKIPPED, "overlap")
    assert story.cursor == at("12:02")
    assert story.next_at == at("12:03")


def test_a_manual_run_can_be_what_a_slot_overlaps_with() -> None:
    story = Story(lease=3600).go("12:00:30")
    story.claim(triggered(story))

    assert story.go("12:01").claim().reason == "overlap"


def test_with_wait_the_slot_starts_when_the_run_has_ended() -> None:
    story, blocker = running_since_noon(overlap="wait")

    assert story.go("12:02").ask().verdict is Verdict.WAIT
    assert story.ask().plan.is_empty
    story.go("12:02:30").succeed(blocker)
    assert story.claim().state is State.RUNNING


def test_with_allow_both_run() -> None:
    story, blocker = running_since_noon(overlap="allow")

    row = story.go("12:02").claim()

    assert row.state is State.RUNNING
    assert story.rows[blocker.id].state is State.RUNNING


def test_with_replace_the_older_is_cancelled_and_the_newer_takes_over() -> None:
    story, blocker = running_since_noon(overlap="replace")

    row = story.go("12:02").claim()

    old = story.rows[blocker.id]
    assert row.state is State.RUNNING
    assert (old.state, old.finished_at) == (State.CANCELLED, at("12:02"))
    assert row.id in old.reason
    assert row.fence > blocker.fence
    assert story.next_at == at("12:03")


def test_with_replace_a_run_that_began_after_the_slot_came_is_waited_for() -> None:
    story = Story(overlap="replace").go("12:01:05")
    manual = story.claim(triggered(story))

    claim = story.go("12:01:10").ask()

    assert claim.verdict is Verdict.WAIT
    assert story.rows[manual.id].state is State.RUNNING


def test_with_replace_a_running_backfill_is_waited_for_not_cancelled() -> None:
    story = Story(overlap="replace").go("12:01")
    story.fail(story.claim())
    story.go("12:01:30").perform(plan_backfill, start=at("12:01"), end=at("12:01"))
    (backfill,) = story.of_kind(Kind.BACKFILL)
    story.claim(backfill)

    assert story.go("12:02").ask().verdict is Verdict.WAIT


@pytest.mark.parametrize("overlap", ["skip", "replace", "wait"])
def test_a_row_written_after_its_own_time_waits(overlap: str) -> None:
    story = Story("10s", overlap=overlap).go("12:00:45")
    blocker = story.claim()

    claim = story.ask()

    assert claim.verdict is Verdict.WAIT
    assert blocker.id in claim.reason
    story.succeed(blocker)
    assert story.claim().run_at == at("12:00:20")


@pytest.mark.parametrize("overlap", ["skip", "replace", "wait"])
def test_a_slot_being_caught_up_waits(overlap: str) -> None:
    story = Story("10m", catch_up=True, overlap=overlap).go("13:05")
    story.claim()

    assert story.ask().verdict is Verdict.WAIT


@pytest.mark.parametrize("overlap", ["skip", "replace", "wait"])
def test_a_manual_run_waits(overlap: str) -> None:
    story, blocker = running_since_noon(overlap=overlap)
    manual = triggered(story)

    assert story.go("12:01:10").ask(manual).verdict is Verdict.WAIT
    story.succeed(blocker)
    assert story.claim(manual).state is State.RUNNING


@pytest.mark.parametrize("overlap", ["skip", "replace", "wait"])
def test_a_retry_waits(overlap: str) -> None:
    story, first = running_since_noon(overlap=overlap, retry=1)
    retry = story.go("12:01:55").fail(first)
    assert retry.due_at == at("12:02:05")
    second = story.go("12:02").claim()
    assert second.state is State.RUNNING

    assert story.go("12:02:10").ask(retry).verdict is Verdict.WAIT
    story.succeed(second)
    assert story.claim(retry).state is State.RUNNING


def test_with_allow_a_manual_run_need_not_wait() -> None:
    story, _ = running_since_noon(overlap="allow")

    assert story.ask(triggered(story)).verdict is Verdict.START


def test_the_policy_in_force_is_that_of_the_row_not_of_a_later_edit() -> None:
    story, blocker = running_since_noon()
    story.go("12:02:05").edit(overlap="allow")

    assert story.claim().reason == "overlap"
    assert story.rows[blocker.id].state is State.RUNNING


def test_jitter_moves_the_instant_at_which_overlap_is_judged() -> None:
    story = Story("10m", jitter="5m").go("12:15")
    story.run()
    row = story.next_row
    assert row is not None
    story.now = row.run_at
    manual = story.claim(triggered(story))
    story.now = row.due_at
    story.succeed(manual)

    assert row.run_at < row.due_at
    assert story.claim().state is State.RUNNING


def failed_minutes(**policies: object) -> Story:
    """Return a schedule whose slots of 12:01 and 12:02 have failed, at 12:02:30."""
    story = Story(**policies)
    for clock in ("12:01", "12:02"):
        story.fail(story.go(clock).claim())
    return story.go("12:02:30")


@pytest.mark.parametrize("overlap", POLICIES)
def test_backfills_run_in_order_one_at_a_time(overlap: str) -> None:
    story = failed_minutes(overlap=overlap)
    story.perform(plan_backfill, start=at("12:01"), end=at("12:02"))
    first, second = story.of_kind(Kind.BACKFILL)

    assert (first.run_at, second.run_at) == (at("12:01"), at("12:02"))
    assert story.ask(second).verdict is Verdict.WAIT
    first = story.claim(first)
    assert story.ask(second).verdict is Verdict.WAIT
    story.succeed(first)
    assert story.claim(second).state is State.RUNNING


@pytest.mark.parametrize("overlap", POLICIES)
def test_a_due_next_row_goes_before_a_backfill(overlap: str) -> None:
    story = failed_minutes(overlap=overlap)
    story.perform(plan_backfill, start=at("12:01"), end=at("12:01"))
    (backfill,) = story.of_kind(Kind.BACKFILL)
    story.go("12:03")

    assert story.ask(backfill).verdict is Verdict.WAIT
    story.run()
    assert story.claim(backfill).state is State.RUNNING


def test_a_running_backfill_never_makes_a_slot_overlap() -> None:
    story = failed_minutes()
    story.perform(plan_backfill, start=at("12:01"), end=at("12:01"))
    (backfill,) = story.of_kind(Kind.BACKFILL)
    story.claim(backfill)

    assert story.go("12:03").ask().verdict is Verdict.WAIT
    story.go("12:03:10").succeed(backfill)
    assert story.claim().state is State.RUNNING


def test_a_backfill_waits_for_a_run_in_progress() -> None:
    story = failed_minutes()
    story.go("12:03").claim()
    story.perform(plan_backfill, start=at("12:01"), end=at("12:01"))
    (backfill,) = story.of_kind(Kind.BACKFILL)

    assert story.ask(backfill).verdict is Verdict.WAIT


def test_what_was_skipped_as_overlap_is_missed_by_nobody_else() -> None:
    story, blocker = running_since_noon()
    for clock in ("12:02", "12:03", "12:04"):
        story.go(clock).claim()
    story.go("12:04:30").succeed(blocker)

    story.go("12:05").run()

    assert story.ranges == []
    for clock in ("12:02", "12:03", "12:04"):
        assert story.told(clock) == [("skipped", "overlap")]
