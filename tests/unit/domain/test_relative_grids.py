"""A relative grid, whose next slot depends on the one before, is asked only from its slots."""

from datetime import datetime, timedelta

import pytest

from sempre.domain.planning import (
    plan_backfill,
    plan_disable,
    plan_enable,
    plan_pause,
    plan_reconcile,
    plan_resume,
    plan_skip,
    plan_unskip,
    steps,
)
from sempre.domain.states import Kind
from sempre.errors import Refused
from sempre.grids import Every, Grid
from tests.unit.domain.builders import Story, at, gap


class FromLast(Grid):
    """So long after the instant that it is asked from, whatever that is."""

    relative = True

    def __init__(self, every: timedelta = timedelta(minutes=10)) -> None:
        self.every = every
        self.asked: list[datetime] = []

    def after(self, t: datetime) -> datetime | None:
        self.asked.append(t)
        return t + self.every


def story_of(**policies: object) -> tuple[Story, FromLast]:
    """Return a schedule with slots at 12:10, 12:20 and so on."""
    grid = FromLast()
    return Story(grid, **policies), grid


def assert_asked_from_slots(grid: FromLast) -> None:
    odd = [each for each in grid.asked if (each - at("12:00")) % grid.every]
    assert odd == [], "it was asked from instants that are no slots"


def test_a_future_slot_can_be_skipped_and_put_back() -> None:
    story, grid = story_of()

    story.perform(plan_skip, run_at=at("12:30"))
    story.perform(plan_skip, run_at=at("12:10"))
    assert story.next_at == at("12:20")
    story.perform(plan_unskip, run_at=at("12:10"))

    assert story.next_at == at("12:10")
    assert story.told("12:30") == [("skipped", "requested")]
    assert_asked_from_slots(grid)


def test_what_is_no_slot_cannot_be_skipped() -> None:
    story, grid = story_of()

    with pytest.raises(Refused, match=r"the next one after it is .*12:20"):
        story.perform(plan_skip, run_at=at("12:15"))

    assert_asked_from_slots(grid)


def test_a_pause_until_an_instant_ends_at_the_first_slot_from_there() -> None:
    story, grid = story_of()

    story.go("12:05").perform(plan_pause, until=at("13:35"))

    assert story.next_at == at("13:40")
    story.go("13:40").claim()
    assert story.ranges == [gap("12:10", "13:30", 9, "paused")]
    assert story.next_at == at("13:50")
    assert_asked_from_slots(grid)


def test_a_pause_leaves_the_grid_where_it_was() -> None:
    story, grid = story_of()
    story.go("12:13").run()

    story.go("12:14").perform(plan_pause)
    story.go("13:05").perform(plan_resume)

    assert story.ranges == [gap("12:20", "13:00", 5, "paused")]
    assert story.cursor == at("13:00")
    assert story.next_at == at("13:10")
    assert_asked_from_slots(grid)


def test_a_disabled_time_leaves_the_grid_where_it_was() -> None:
    story, grid = story_of()
    story.go("12:05").perform(plan_disable)

    story.go("12:47").perform(plan_enable)

    assert story.ranges == [gap("12:10", "12:40", 4, "disabled")]
    assert story.next_at == at("12:50")
    assert_asked_from_slots(grid)


@pytest.mark.parametrize(
    ("policies", "missed", "following"),
    [
        ({}, [gap("12:20", "13:00", 5, "missed")], "13:10"),
        ({"catch_up": True}, [], "12:20"),
        ({"catch_up": True, "catch_up_max": 2}, [gap("12:20", "12:40", 3, "missed")], "12:50"),
        (
            {"catch_up": True, "catch_up_within": "20m"},
            [gap("12:20", "12:40", 3, "missed")],
            "12:50",
        ),
        ({"until": at("12:35")}, [gap("12:20", "12:30", 2, "missed")], None),
    ],
)
def test_after_a_downtime_slots_are_counted_from_slots(
    policies: dict[str, object], missed: list[object], following: str | None
) -> None:
    story, grid = story_of(**policies)

    story.go("13:05").claim()

    assert story.ranges == missed
    assert story.next_at == (following and at(following))
    assert_asked_from_slots(grid)


def test_a_slot_taken_out_cuts_a_range_in_two() -> None:
    story, grid = story_of()
    story.perform(plan_skip, run_at=at("12:40"))

    story.go("13:05").claim()

    assert story.ranges == [gap("12:20", "12:30", 2, "missed"), gap("12:50", "13:00", 2, "missed")]
    assert_asked_from_slots(grid)


def test_reconciling_finds_nothing_to_do() -> None:
    story, grid = story_of()
    story.go("12:05").perform(plan_pause, until=at("13:35"))

    assert story.perform(plan_reconcile).is_empty
    assert_asked_from_slots(grid)


def test_another_grid_counts_from_the_change() -> None:
    story, _ = story_of()
    story.go("12:13").run()

    story.go("12:17").edit(grid=FromLast(timedelta(minutes=3)))

    assert story.cursor == at("12:17")
    assert story.next_at == at("12:20")
    story.edit(grid=Every("1h"))
    assert story.next_at == at("13:00")


# Backfill


def test_a_backfill_takes_slots_that_are_on_record() -> None:
    story, grid = story_of()
    story.go("12:10").run()
    story.go("13:05").claim()

    story.perform(plan_backfill, start=at("12:00"), end=at("12:45"), ranges=story.ranges)

    rows = story.of_kind(Kind.BACKFILL)
    assert [row.run_at for row in rows] == [at("12:30"), at("12:40")]
    assert_asked_from_slots(grid)


def test_a_backfill_of_a_time_without_any_record_is_refused() -> None:
    story, _ = story_of()
    story.go("12:10").run()

    with pytest.raises(Refused, match="relative"):
        story.perform(plan_backfill, start=at("09:00"), end=at("11:00"))


# Very many slots


def test_a_pause_over_too_many_slots_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_STEPS", 20)
    story, _ = story_of()

    story.perform(plan_pause, until=at("12:00", days=1))

    assert "20" in story.schedule.broken
    assert "pause" in story.schedule.broken


def test_a_downtime_of_too_many_slots_is_passed_in_several_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "MOST_STEPS", 20)
    story, grid = story_of()
    story.go("12:05", days=1)

    while story.next_at is not None and story.next_at <= story.now:
        story.run()

    assert story.next_at == at("12:10", days=1)
    assert sum(found.count for found in story.ranges) + len(story.rows) - 1 == 144
    assert story.schedule.broken == ""
    assert_asked_from_slots(grid)
