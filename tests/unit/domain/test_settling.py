"""What becomes of an execution when its attempt ends: well, badly, unknown or given back."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    plan_delete,
    plan_disable,
    plan_failure,
    plan_interruption,
    plan_pause,
    plan_release,
    plan_rescue,
    plan_success,
    plan_trigger,
)
from sempre.domain.planning.settlement import crash_wait
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from tests.unit.domain.builders import LEASE, Story, at

Verb = Callable[..., Plan]
STOPS = [(plan_disable, "disabled"), (plan_pause, "paused")]


def started(**policies: object) -> tuple[Story, Execution]:
    """Return a schedule and its running row of 12:01."""
    story = Story(**policies).go("12:01")
    return story, story.claim()


def crashed(story: Story, row: Execution) -> Execution:
    """Let the lease of a running row expire and somebody notice."""
    story.now += LEASE
    return story.rescue(row)


def test_success_ends_a_row() -> None:
    story, row = started()

    done = story.go("12:01:20").succeed(row)

    assert (done.state, done.reason, done.finished_at) == (State.SUCCEEDED, "", at("12:01:20"))
    assert done.leased_until is None


def test_settling_changes_nothing_of_the_schedule() -> None:
    story, row = started(retry=1)
    before = story.schedule

    story.fail(row)

    assert story.schedule == before
    assert story.next_at == at("12:02")


def test_a_failure_without_retry_is_final_and_says_why() -> None:
    story, row = started()

    failed = story.fail(row, "boom")

    assert (failed.state, failed.failures) == (State.FAILED, 1)
    assert "boom" in failed.reason


def test_a_failure_is_tried_again_after_the_wait() -> None:
    story, row = started(retry=Retry(2, base="10s", cap="1m"))

    waiting = story.go("12:01:05").fail(row)

    assert (waiting.state, waiting.failures) == (State.SCHEDULED, 1)
    assert waiting.due_at == at("12:01:15")
    assert waiting.run_at == at("12:01")
    assert waiting.session == ""
    assert waiting.leased_until is None
    assert not story.ask(waiting).plan.changes


def test_retries_wait_longer_each_time_and_are_used_up() -> None:
    story, row = started(retry=Retry(2, base="10s", cap="1m"))
    waits = []
    for _ in range(2):
        row = story.fail(row)
        waits.append(row.due_at - story.now)
        story.now = row.due_at
        row = story.claim(row)

    row = story.fail(row)

    assert waits == [timedelta(seconds=10), timedelta(seconds=20)]
    assert (row.state, row.attempt, row.failures) == (State.FAILED, 3, 3)
    assert "retries exhausted" in row.reason


def test_a_retry_can_succeed() -> None:
    story, row = started(retry=1)
    row = story.fail(row)
    story.now = row.due_at

    assert story.succeed(story.claim(row)).state is State.SUCCEEDED


def test_the_policy_is_that_of_the_row_not_of_a_later_edit() -> None:
    story, row = started(retry=1)
    story.edit(retry=0)

    assert story.fail(row).state is State.SCHEDULED


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_failure_after_disable_or_pause_is_not_tried_again(verb: Verb, reason: str) -> None:
    story, row = started(retry=5)
    story.perform(verb)
    assert story.rows[row.id].state is State.RUNNING

    failed = story.fail(row)

    assert failed.state is State.FAILED
    assert reason in failed.reason


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_lost_lease_after_disable_or_pause_is_not_rerun(verb: Verb, reason: str) -> None:
    story, row = started()
    story.perform(verb)

    failed = crashed(story, row)

    assert failed.state is State.FAILED
    assert reason in failed.reason


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_running_row_may_finish_after_disable_or_pause(verb: Verb, reason: str) -> None:
    story, row = started()
    story.perform(verb)

    assert story.succeed(row).state is State.SUCCEEDED
    assert reason not in story.rows[row.id].reason


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_manual_run_is_tried_again_all_the_same(verb: Verb, reason: str) -> None:
    story = Story(retry=1)
    story.perform(verb)
    story.apply(plan_trigger(story.schedule, story.moment))
    (manual,) = story.of_kind(Kind.MANUAL)

    waiting = story.fail(story.claim(manual))
    story.now = waiting.due_at

    assert reason not in waiting.reason
    assert story.claim(waiting).state is State.RUNNING


def test_after_a_pause_that_has_ended_a_failure_is_tried_again() -> None:
    story, row = started(retry=1)
    story.perform(plan_pause, until=at("12:05"))

    assert story.go("12:05").fail(row).state is State.SCHEDULED


def test_after_a_delete_a_failure_is_tried_again_from_the_snapshot() -> None:
    story, row = started(retry=1)
    story.perform(plan_delete)

    waiting = story.fail(row)
    story.now = waiting.due_at

    assert story.claim(waiting).state is State.RUNNING


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_delete_does_not_let_start_again_what_was_stopped(verb: Verb, reason: str) -> None:
    story, row = started(retry=1)
    story.perform(verb)
    story.perform(plan_delete)

    failed = story.fail(row)

    assert failed.state is State.FAILED
    assert reason in failed.reason


def test_a_lease_that_is_still_good_is_left_alone() -> None:
    story, row = started()
    story.now += LEASE - timedelta(microseconds=1)

    plan = plan_rescue(story.schedule, row, [row], story.moment)

    assert plan.is_empty


def test_a_row_that_does_not_run_is_not_rescued() -> None:
    story, row = started()
    done = story.succeed(row)

    assert plan_rescue(story.schedule, done, [done], story.moment).is_empty


def test_by_default_an_unknown_outcome_is_rerun_without_using_up_retries() -> None:
    story, row = started()

    waiting = crashed(story, row)

    assert (waiting.state, waiting.reason) == (State.SCHEDULED, "unknown outcome")
    assert (waiting.crashes, waiting.failures) == (1, 0)
    assert story.claim(_made_due(story, waiting)).attempt == 2


@pytest.mark.parametrize(("crashes", "seconds"), [(1, 1), (2, 10), (3, 60), (4, 60), (99, 60)])
def test_a_rerun_waits_longer_after_each_crash(crashes: int, seconds: int) -> None:
    assert crash_wait(crashes) == timedelta(seconds=seconds)


@pytest.mark.parametrize("lost", [True, False])
def test_a_rerun_after_a_crash_waits(*, lost: bool) -> None:
    """Whether its worker saw the crash or its lease was lost."""
    story, row = started()
    for seconds in (1, 10):
        row = crashed(story, row) if lost else story.crash(row)
        assert row.due_at == story.now + timedelta(seconds=seconds)
        row = story.claim(_made_due(story, row))


def test_the_third_crash_is_the_last() -> None:
    story, row = started()
    for crash in (1, 2):
        row = crashed(story, row)
        assert (row.state, row.crashes) == (State.SCHEDULED, crash)
        row = story.claim(_made_due(story, row))

    row = crashed(story, row)

    assert (row.state, row.crashes, row.reason) == (State.FAILED, 3, "quarantined")


def test_failures_between_crashes_do_not_count_as_crashes() -> None:
    story, row = started(retry=5)
    row = story.claim(_made_due(story, crashed(story, row)))
    row = story.fail(row)
    story.now = row.due_at
    row = story.claim(row)

    row = crashed(story, row)

    assert (row.state, row.crashes, row.failures) == (State.SCHEDULED, 2, 1)


def test_on_unknown_skip_fails_it_and_goes_on() -> None:
    story, row = started(on_unknown="skip", retry=5)

    failed = crashed(story, row)

    assert (failed.state, failed.reason) == (State.FAILED, "unknown outcome")
    assert story.next_at == at("12:02")
    assert story.schedule.pause is None


def test_on_unknown_hold_fails_it_and_pauses_with_a_note() -> None:
    story, row = started(on_unknown="hold")
    revision = story.schedule.revision

    failed = crashed(story, row)

    assert (failed.state, failed.reason) == (State.FAILED, "unknown outcome")
    assert story.schedule.pause is not None
    assert story.schedule.pause.until is None
    assert row.id in story.schedule.pause.note
    assert story.schedule.revision == revision + 1
    assert story.next_at is None
    assert [state for state, _ in story.told("12:02")] == ["superseded"]


def test_on_unknown_hold_leaves_an_operators_pause_as_it_is() -> None:
    story = Story(on_unknown="hold")
    story.perform(plan_pause, until=at("13:00"), note="moving house", actor="ada")
    story.apply(plan_trigger(story.schedule, story.moment))
    manual = story.claim(story.of_kind(Kind.MANUAL)[0])

    crashed(story, manual)

    assert story.schedule.pause is not None
    assert "moving house" in story.schedule.pause.note


def test_on_unknown_hold_of_work_without_a_schedule_just_fails() -> None:
    story, row = started(on_unknown="hold")
    story.go("12:05")

    plan = plan_rescue(None, row, [], story.moment)

    (change,) = plan.changes
    assert change.after.state is State.FAILED


def test_what_a_stop_cut_off_is_rerun_at_once_and_counts_as_no_crash() -> None:
    story, row = started(retry=1)
    for attempt in range(2, 7):
        waiting = story.interrupt(row)
        assert (waiting.state, waiting.reason) == (State.SCHEDULED, "unknown outcome")
        assert (waiting.crashes, waiting.failures, waiting.due_at) == (0, 0, story.now)
        row = story.claim(waiting)
        assert row.attempt == attempt


def test_what_a_stop_cut_off_keeps_the_crashes_it_had() -> None:
    story, row = started()
    for _ in range(2):
        row = story.claim(_made_due(story, crashed(story, row)))

    waiting = story.interrupt(row)

    assert (waiting.state, waiting.crashes) == (State.SCHEDULED, 2)


def _made_due(story: Story, row: Execution) -> Execution:
    """Let time pass until a row is due."""
    story.now = max(story.now, row.due_at)
    return row


@pytest.mark.parametrize("policy", ["skip", "hold"])
def test_what_a_stop_cut_off_is_not_rerun_unless_its_policy_says_so(policy: str) -> None:
    story, row = started(on_unknown=policy, retry=5)

    failed = story.interrupt(row)

    assert (failed.state, failed.reason) == (State.FAILED, "unknown outcome")
    assert (failed.crashes, failed.failures) == (0, 0)
    assert (story.schedule.pause is not None) == (policy == "hold")


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_what_a_stop_cut_off_after_disable_or_pause_does_not_start_again(
    verb: Verb, reason: str
) -> None:
    story, row = started()
    story.perform(verb)

    failed = story.interrupt(row)

    assert (failed.state, failed.reason) == (State.FAILED, reason)


def test_a_release_gives_the_attempt_back() -> None:
    story, row = started(retry=1)

    waiting = story.go("12:01:10").release(row)

    assert (waiting.state, waiting.reason) == (State.SCHEDULED, "released")
    assert (waiting.attempt, waiting.failures, waiting.crashes) == (0, 0, 0)
    assert waiting.due_at == at("12:01:10")
    assert story.claim(waiting).attempt == 1


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_what_is_released_after_disable_or_pause_does_not_start_again(
    verb: Verb, reason: str
) -> None:
    story, row = started()
    story.perform(verb)

    ended = story.release(row)

    assert ended.state in (State.CANCELLED, State.FAILED)
    assert reason in ended.reason


def test_what_has_ended_does_not_end_again() -> None:
    story, row = started()
    ended = story.succeed(row)

    assert plan_success(ended, story.moment).is_empty
    assert plan_failure(story.schedule, ended, story.moment).is_empty
    assert plan_release(story.schedule, ended, story.moment).is_empty
    assert plan_interruption(story.schedule, ended, [ended], story.moment).is_empty


def test_a_row_that_waits_cannot_fail_by_a_late_report() -> None:
    story, row = started()
    waiting = crashed(story, row)

    assert plan_failure(story.schedule, waiting, story.moment, error="late").is_empty
