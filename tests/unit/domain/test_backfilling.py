"""Backfill: slots of the past that did not succeed are run again, or for the first time."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from sempre.domain.planning import (
    Plan,
    plan_backfill,
    plan_disable,
    plan_pause,
    plan_reconcile,
    plan_skip,
    plan_trigger,
)
from sempre.domain.states import Kind
from sempre.domain.values import copy_with
from sempre.errors import InstantError, Refused
from tests.unit.domain.builders import Story, at, gap


def after_downtime(**policies: object) -> Story:
    """Return a schedule at 12:05:30 whose slots from 12:02 to 12:04 were missed."""
    story = Story(**policies).go("12:05:30")
    story.run()
    story.run()
    return story


def past() -> Story:
    """Return a schedule at 12:06:30 whose slots have come to every kind of end.

    12:01 succeeded, 12:02 failed, 12:03 is retrying, 12:04 was taken out, 12:05 was missed in a
    range, and 12:06 runs.
    """
    story = Story(retry=1, overlap="allow")
    story.perform(plan_skip, run_at=at("12:04"))
    story.go("12:01").run()
    failing = story.go("12:02").fail(story.claim())
    story.now = failing.due_at
    story.fail(story.claim(failing))
    story.go("12:03").claim()
    retrying = story.go("12:03:30").fail(story.slot("12:03")[-1])
    story.go("12:05:10").perform(plan_disable)
    story.go("12:05:20").edit(enabled=True)
    story.rows[retrying.id] = retrying
    story.go("12:06").claim()
    return story.go("12:06:30")


def backfilled(story: Story) -> list[str]:
    return [f"{row.run_at:%H:%M}" for row in story.of_kind(Kind.BACKFILL)]


def test_backfill_takes_what_did_not_succeed_and_is_not_under_way() -> None:
    story = past()

    story.perform(plan_backfill, start=at("12:01"), end=at("12:06"))

    assert backfilled(story) == ["12:02", "12:04", "12:05"]


def test_backfilled_rows_are_due_now_and_keep_their_slot() -> None:
    story = Story("10m", jitter="5m", tolerance="0s").go("13:05")
    story.run()

    story.perform(plan_backfill, start=at("12:30"), end=at("12:30"), actor="ada")

    (row,) = story.of_kind(Kind.BACKFILL)
    assert (row.run_at, row.due_at) == (at("12:30"), at("13:05"))
    assert (row.reason, row.actor) == ("requested", "ada")


def test_backfill_leaves_cursor_next_row_and_starts_alone() -> None:
    story = after_downtime()
    before = story.schedule

    story.perform(plan_backfill, start=at("12:01"), end=at("12:06"))
    assert story.schedule == before
    story.succeed(story.claim(story.of_kind(Kind.BACKFILL)[0]))

    assert story.schedule == copy_with(before, revision=before.revision + 1)


def test_backfilling_again_does_nothing_while_it_is_under_way_or_done() -> None:
    story = after_downtime()
    story.perform(plan_backfill, start=at("12:01"), end=at("12:06"))
    assert story.perform(plan_backfill, start=at("12:01"), end=at("12:06")).is_empty

    story.claim(story.of_kind(Kind.BACKFILL)[0])
    assert story.perform(plan_backfill, start=at("12:01"), end=at("12:06")).is_empty
    story.succeed(story.of_kind(Kind.BACKFILL)[0])
    assert story.perform(plan_backfill, start=at("12:01"), end=at("12:06")).is_empty
    assert backfilled(story) == ["12:02", "12:03", "12:04"]


def test_a_backfill_that_failed_can_be_made_again() -> None:
    story = after_downtime()
    story.perform(plan_backfill, start=at("12:02"), end=at("12:02"))
    story.fail(story.claim(story.of_kind(Kind.BACKFILL)[0]))

    story.perform(plan_backfill, start=at("12:02"), end=at("12:02"))

    assert backfilled(story) == ["12:02", "12:02"]


def test_a_backfill_never_takes_a_slot_that_is_still_to_be_decided() -> None:
    story = Story().go("12:05:30")

    plan = story.perform(plan_backfill, start=at("12:01"), end=at("12:30"))

    assert plan.is_empty
    assert story.cursor == at("12:00")


KEPT = timedelta(hours=3, minutes=30)


def long_ago(**policies: object) -> Story:
    """Return an hourly schedule at 18:30 that has run nothing since noon."""
    story = Story("1h", **policies).go("18:30")
    story.run()
    return story


def test_slots_before_retention_are_refused_with_their_number() -> None:
    story = long_ago()

    with pytest.raises(Refused, match="2 of the slots of billing lie before") as said:
        story.perform(plan_backfill, start=at("12:30"), end=at("18:00"), retention=KEPT)

    assert "lie before 2026-05-04 15:00Z" in str(said.value)
    assert "assume_not_run=True" in str(said.value)
    assert backfilled(story) == []


def test_slots_before_retention_run_if_they_are_assumed_not_to_have_run() -> None:
    story = long_ago()

    asked = {"start": at("12:30"), "end": at("18:00"), "retention": KEPT}
    story.perform(plan_backfill, assume_not_run=True, **asked)

    assert backfilled(story) == ["14:00", "15:00", "16:00", "17:00", "18:00"]


def test_a_backfill_within_retention_assumes_nothing() -> None:
    story = long_ago()

    story.perform(plan_backfill, start=at("15:00"), end=at("18:00"), retention=KEPT)

    assert backfilled(story) == ["15:00", "16:00", "17:00", "18:00"]


def test_a_retention_of_its_own_bounds_the_backfill_of_a_schedule() -> None:
    asked = {"start": at("15:00"), "end": at("18:00"), "retention": KEPT}
    longer, shorter = long_ago(retention="9h"), long_ago(retention="2h")

    longer.perform(plan_backfill, **asked | {"start": at("12:30")})
    with pytest.raises(Refused, match="2 of the slots of billing lie before 2026-05-04 16:30Z"):
        shorter.perform(plan_backfill, **asked)

    assert backfilled(longer)[0] == "14:00"
    assert backfilled(shorter) == []


def test_both_ends_of_a_backfill_are_inclusive_and_need_not_be_slots() -> None:
    story = Story().go("12:20:30")
    story.claim()

    story.perform(plan_backfill, start=at("12:05"), end=at("12:07"))
    story.perform(plan_backfill, start=at("12:09:30"), end=at("12:10:30"))

    assert backfilled(story) == ["12:05", "12:06", "12:07", "12:10"]


@pytest.mark.parametrize("verb", [plan_disable, plan_pause])
def test_a_backfill_of_a_disabled_or_paused_schedule_is_refused(verb: Callable[..., Plan]) -> None:
    story = Story()
    story.perform(verb)

    with pytest.raises(Refused, match="billing is disabled or paused"):
        story.perform(plan_backfill, start=at("11:00"), end=at("12:00"))


def test_a_backfill_after_a_pause_has_ended_takes_the_paused_slots() -> None:
    story = Story().go("12:00:30")
    story.perform(plan_pause, until=at("12:03"))
    story.go("12:03").run()
    assert story.ranges == [gap("12:01", "12:02", 2, "paused")]

    story.perform(plan_backfill, start=at("12:01"), end=at("12:03"))

    assert backfilled(story) == ["12:01", "12:02"]


def test_a_backfill_from_later_to_earlier_is_refused() -> None:
    with pytest.raises(Refused, match="empty"):
        Story().perform(plan_backfill, start=at("12:00"), end=at("11:00"))


def test_a_backfill_between_instants_without_a_zone_is_refused_as_bad_input() -> None:
    naive = at("12:00").replace(tzinfo=None)

    with pytest.raises(InstantError):
        Story().perform(plan_backfill, start=naive, end=naive)


def test_a_backfill_has_the_idempotency_key_of_its_slot() -> None:
    story = past()
    rows = story.of_kind(Kind.SCHEDULED)
    story.perform(plan_backfill, start=at("12:02"), end=at("12:02"))

    (row,) = story.of_kind(Kind.BACKFILL)
    assert row.key in {other.key for other in rows}


def test_reconcile_finds_nothing_to_do_after_any_of_them() -> None:
    story = past()
    story.perform(plan_skip, run_at=at("12:08"))
    story.perform(plan_backfill, start=at("12:01"), end=at("12:06"))
    story.apply(plan_trigger(story.schedule, story.moment))

    assert story.perform(plan_reconcile).is_empty
