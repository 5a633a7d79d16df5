"""A grid of the user's own that goes wrong never takes the run that is due with it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sempre.domain.planning import plan_disable, plan_pause, plan_reconcile, plan_start
from sempre.domain.states import State
from sempre.errors import BrokenGrid, CronError, InstantError
from sempre.grids import Every
from tests.unit.domain.builders import Faulty, Story, at

NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001 - what a careless grid answers
WEST = timezone(timedelta(hours=-12))
ERRORS = [
    ZeroDivisionError("oops"),
    KeyError("holiday"),
    RecursionError(),
    BrokenGrid("inner"),
    pytest.param(CronError("minute", "75", allowed="0-59")),
    pytest.param(InstantError("t", "?", allowed="an instant")),
]
ANSWERS = [
    at("00:00"),
    NAIVE,
    datetime.max.replace(tzinfo=WEST),
    "tomorrow",
]


def due_story(**policies: object) -> tuple[Story, Faulty]:
    """Return a schedule on its own grid whose first row is due."""
    grid = Faulty()
    return Story(grid, **policies).go("12:01:10"), grid


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("clock", ["12:01:10", "12:30"])
def test_a_grid_that_raises_never_breaks_the_claim(error: Exception, clock: str) -> None:
    story, grid = due_story()
    grid.error = error

    row = story.go(clock).claim()

    assert row.state is State.RUNNING
    assert story.cursor == at("12:01")
    assert story.schedule.broken
    assert story.next_at is None
    assert story.schedule.starts == 1


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_an_answer_that_is_no_later_instant_never_breaks_the_claim(answer: datetime) -> None:
    story, grid = due_story()
    grid.answer = answer

    row = story.claim()

    assert row.state is State.RUNNING
    assert story.schedule.broken
    assert story.next_at is None


@pytest.mark.parametrize("policies", [{"catch_up": True, "catch_up_max": 3}, {"deadline": "1m"}])
def test_neither_does_it_when_lateness_has_to_be_judged(policies: dict[str, object]) -> None:
    story, grid = due_story(**policies)
    grid.error = ZeroDivisionError()

    row = story.go("12:30").claim()

    assert row.state in (State.RUNNING, State.MISSED)
    assert story.schedule.broken


def test_what_is_wrong_with_the_grid_is_told() -> None:
    story, grid = due_story()
    grid.error = ZeroDivisionError("no tides")

    story.claim()

    assert "no tides" in story.schedule.broken


def test_a_broken_schedule_keeps_the_row_it_has() -> None:
    grid = Faulty()
    story = Story(grid)
    grid.error = ZeroDivisionError()

    story.perform(plan_reconcile)

    assert story.schedule.broken
    assert story.next_at == at("12:01")
    assert story.told("12:01") == [("pending", "")]
    assert story.perform(plan_reconcile).is_empty


def test_the_row_that_a_broken_schedule_keeps_runs_at_its_time() -> None:
    grid = Faulty()
    story = Story(grid)
    grid.error = ZeroDivisionError()
    story.perform(plan_reconcile)

    row = story.go("12:01").claim()

    assert row.state is State.RUNNING
    assert story.schedule.broken
    assert story.next_at is None


def test_the_row_that_a_broken_schedule_keeps_follows_an_edit() -> None:
    grid = Faulty()
    story = Story(grid)
    grid.error = ZeroDivisionError()

    story.edit(priority=7)

    assert story.schedule.broken
    assert story.told("12:01") == [("superseded", "drift: priority"), ("pending", "")]
    assert story.next_row is not None
    assert story.next_row.snapshot.priority == 7
    assert story.next_at == at("12:01")


def test_a_broken_schedule_that_is_stopped_has_no_row() -> None:
    grid = Faulty()
    story = Story(grid)
    grid.error = ZeroDivisionError()
    story.perform(plan_reconcile)

    story.perform(plan_disable)

    assert story.next_at is None
    assert story.told("12:01") == [("superseded", "disabled")]


def test_a_due_row_of_a_broken_schedule_still_runs() -> None:
    story, grid = due_story()
    row = story.next_row
    grid.error = ZeroDivisionError()
    assert row is not None

    story.perform(plan_reconcile)

    assert story.claim(story.rows[row.id]).state is State.RUNNING


def test_reconciling_a_broken_schedule_again_does_nothing() -> None:
    story, grid = due_story()
    grid.error = ZeroDivisionError()
    story.claim()

    assert story.perform(plan_reconcile).is_empty


def test_reconcile_heals_a_schedule_whose_grid_works_again() -> None:
    story, grid = due_story()
    grid.error = ZeroDivisionError()
    story.claim()
    grid.mend()

    story.go("12:01:30").perform(plan_reconcile)

    assert story.schedule.broken == ""
    assert story.next_at == at("12:02")


def test_an_edit_heals_a_schedule_by_another_grid() -> None:
    story, grid = due_story()
    grid.error = ZeroDivisionError()
    story.claim()

    story.go("12:03").edit(grid=Every("5m"))

    assert story.schedule.broken == ""
    assert story.next_at == at("12:05")
    assert story.cursor == at("12:03")


def test_a_schedule_can_be_paused_though_its_grid_is_broken() -> None:
    story, grid = due_story()
    grid.error = ZeroDivisionError()

    story.perform(plan_pause)

    assert story.schedule.pause is not None
    assert story.told("12:01") == [("skipped", "paused")]


def test_a_schedule_that_is_broken_from_the_start_says_so() -> None:
    grid = Faulty()
    grid.error = ZeroDivisionError()
    story = Story(grid, start=False)

    story.perform(plan_start)

    assert story.schedule.started
    assert story.schedule.broken
    assert story.next_at is None


def test_a_grid_that_has_no_further_slot_is_not_broken() -> None:
    class Once(Faulty):
        def after(self, t: datetime) -> datetime | None:
            only = datetime(2026, 5, 4, 12, 1, tzinfo=UTC)
            return only if t < only else None

    story = Story(Once()).go("12:01")

    assert story.run().state is State.SUCCEEDED
    assert story.schedule.broken == ""
    assert story.next_at is None


def test_slots_of_an_own_grid_are_utc_whatever_zone_it_answers_in() -> None:
    class Abroad(Faulty):
        def after(self, t: datetime) -> datetime | None:
            slot = super().after(t)
            return slot and slot.astimezone(WEST)

    row = Story(Abroad()).next_row

    assert row is not None
    assert row.run_at.tzinfo is UTC
