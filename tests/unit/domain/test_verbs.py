"""Start, enable, disable and delete: what becomes of every row and of the cursor."""

from collections.abc import Callable

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    Verdict,
    plan_backfill,
    plan_delete,
    plan_disable,
    plan_enable,
    plan_pause,
    plan_reconcile,
    plan_resume,
    plan_skip,
    plan_start,
    plan_trigger,
)
from sempre.domain.states import Kind, State
from tests.unit.domain.builders import Story, at, gap

Verb = Callable[..., Plan]
STOPS: list[tuple[Verb, str]] = [(plan_disable, "disabled"), (plan_pause, "paused")]
stops = pytest.mark.parametrize(("verb", "reason"), STOPS)


def with_retry() -> tuple[Story, Execution]:
    """Return a schedule with a retry that waits for 12:01:10, at 12:01."""
    story = Story(retry=3).go("12:01")
    return story, story.fail(story.claim())


def test_a_new_schedule_has_no_next_row_until_it_is_started() -> None:
    story = Story(start=False)

    assert story.perform(plan_reconcile).is_empty
    assert story.next_at is None


def test_start_places_the_first_slot_after_creation() -> None:
    story = Story(start=False)

    plan = story.perform(plan_start)

    assert story.schedule.started
    assert story.next_at == at("12:01")
    assert story.cursor == story.schedule.created_at
    assert len(plan.creates) == 1


def test_starting_again_does_nothing() -> None:
    story = Story().go("12:00:30")

    assert story.perform(plan_start).is_empty


@pytest.mark.parametrize("policies", [{"enabled": False}])
def test_a_disabled_schedule_does_not_start(policies: dict[str, object]) -> None:
    story = Story(start=False, **policies)

    assert story.perform(plan_start).is_empty
    assert not story.schedule.started


def test_a_deleted_schedule_does_not_start() -> None:
    story = Story(start=False)
    story.perform(plan_delete)

    assert story.perform(plan_start).is_empty


def test_a_paused_schedule_starts_and_waits_for_the_end_of_the_pause() -> None:
    story = Story(start=False)
    story.perform(plan_pause, until=at("12:05"))

    story.perform(plan_start)

    assert story.next_at == at("12:05")


@pytest.mark.parametrize(
    ("verb", "reason"),
    [pytest.param(plan_disable, "disabled"), (plan_pause, "paused")],
)
def test_a_waiting_row_is_superseded_with_the_reason(verb: Verb, reason: str) -> None:
    story = Story().go("12:00:30")

    story.perform(verb)

    assert story.told("12:01") == [("superseded", reason)]
    assert story.next_at is None


@stops
def test_a_due_row_is_skipped_with_the_reason(verb: Verb, reason: str) -> None:
    story = Story().go("12:01:10")

    story.perform(verb)

    assert story.told("12:01") == [("skipped", reason)]
    assert story.cursor == at("12:01:10")
    assert story.ranges == []


@stops
def test_a_waiting_retry_is_cancelled_with_the_reason(verb: Verb, reason: str) -> None:
    story, retry = with_retry()

    story.perform(verb)

    ended = story.rows[retry.id]
    assert (ended.state, ended.reason) == (State.CANCELLED, reason)


@stops
def test_a_waiting_backfill_is_cancelled_with_the_reason(verb: Verb, reason: str) -> None:
    story = Story().go("12:01")
    story.fail(story.claim())
    story.perform(plan_backfill, start=at("12:01"), end=at("12:01"))

    story.perform(verb)

    (row,) = story.of_kind(Kind.BACKFILL)
    assert (row.state, row.reason) == (State.CANCELLED, reason)


@stops
def test_a_running_row_goes_on(verb: Verb, reason: str) -> None:
    story = Story().go("12:01")
    row = story.claim()

    story.perform(verb)

    assert story.rows[row.id] == row
    assert reason not in row.reason


@stops
def test_a_manual_row_stays_and_starts(verb: Verb, reason: str) -> None:
    story = Story()
    story.apply(plan_trigger(story.schedule, story.moment))
    story.perform(verb)

    (row,) = story.of_kind(Kind.MANUAL)

    assert row.is_live
    assert reason not in row.reason
    assert story.claim(row).state is State.RUNNING


@stops
def test_a_slot_taken_out_in_advance_stays_so(verb: Verb, reason: str) -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:05"))

    story.perform(verb)

    assert story.told("12:05") == [("skipped", "requested")]
    assert reason != "requested"


@stops
def test_nothing_starts_any_more(verb: Verb, reason: str) -> None:
    story, retry = with_retry()
    before = story.next_row
    story.perform(verb)
    assert before is not None
    story.go("12:30")

    assert story.ask(story.rows[retry.id]).verdict is Verdict.STALE
    assert story.ask(story.rows[before.id]).verdict is Verdict.STALE
    assert story.ask(before).verdict is not Verdict.START
    assert reason in story.ask(before).reason


@stops
def test_who_stopped_it_is_recorded(verb: Verb, reason: str) -> None:
    story = Story().go("12:01:10")

    story.perform(verb, actor="ada")

    assert story.slot("12:01")[0].actor == "ada"
    assert story.slot("12:01")[0].reason == reason


@stops
def test_a_slot_in_its_jitter_is_accounted_for(verb: Verb, reason: str) -> None:
    story = Story("10m", jitter="5m")
    row = story.next_row
    assert row is not None
    story.now = row.run_at + (row.due_at - row.run_at) / 2

    story.perform(verb)

    told = [state for state, _ in story.told("12:10")]
    ranged = [found for found in story.ranges if found.first <= at("12:10") <= found.last]
    assert (told, len(ranged)) in ((["superseded"], 1), (["skipped"], 0))
    assert reason in (story.slot("12:10")[0].reason)


def test_disabling_again_does_nothing() -> None:
    story = Story()
    story.perform(plan_disable)

    assert story.go("12:30").perform(plan_disable).is_empty


def test_enabling_what_is_enabled_does_nothing() -> None:
    assert Story().go("12:01:30").perform(plan_enable).is_empty


def test_enable_goes_on_from_now_and_records_what_passed() -> None:
    story = Story().go("12:01")
    story.run()
    story.perform(plan_disable)

    story.go("12:30:30").perform(plan_enable)

    assert story.ranges == [gap("12:02", "12:30", 29, "disabled")]
    assert story.cursor == at("12:30:30")
    assert story.next_at == at("12:31")


def test_enabled_again_before_its_time_a_slot_is_placed_again() -> None:
    story = Story().go("12:00:10")
    story.perform(plan_disable)

    story.go("12:00:20").perform(plan_enable)

    assert [state for state, _ in story.told("12:01")] == ["superseded", "pending"]
    assert story.next_at == at("12:01")


def test_slots_that_passed_before_the_disable_were_missed_those_after_disabled() -> None:
    story = Story().go("12:04:30")
    story.perform(plan_disable)

    story.go("12:08:30").perform(plan_enable)

    assert story.told("12:01") == [("skipped", "disabled")]
    assert story.ranges == [
        gap("12:02", "12:04", 3, "missed"),
        gap("12:05", "12:08", 4, "disabled"),
    ]


def test_delete_supersedes_the_future_row() -> None:
    story = Story().go("12:00:30")

    story.perform(plan_delete)

    assert story.told("12:01") == [("superseded", "deleted")]
    assert story.schedule.deleted
    assert story.next_at is None


def test_delete_leaves_due_retrying_manual_and_running_rows_to_run() -> None:
    story, retry = with_retry()
    story.go("12:02:10").apply(plan_trigger(story.schedule, story.moment))
    rows = {row.id for row in story.rows.values() if row.is_live}

    story.perform(plan_delete)

    assert {row.id for row in story.rows.values() if row.is_live} == rows
    assert retry.id in rows
    assert len(rows) == 3


def test_delete_records_what_has_passed() -> None:
    story = Story().go("12:05:30")

    story.perform(plan_delete)

    assert story.cursor == at("12:05:30")
    assert [(found.first, found.count) for found in story.ranges] == [(at("12:02"), 4)]


@pytest.mark.parametrize("verb", [plan_delete, plan_enable, plan_disable, plan_pause, plan_resume])
def test_nothing_more_happens_to_a_deleted_schedule(verb: Verb) -> None:
    story = Story()
    story.perform(plan_delete)

    assert story.go("12:30").perform(verb).is_empty


@pytest.mark.parametrize("verb", [plan_disable, plan_pause, plan_delete])
def test_every_real_change_is_one_revision(verb: Verb) -> None:
    story = Story()
    before = story.schedule.revision

    story.perform(verb)

    assert story.schedule.revision == before + 1
