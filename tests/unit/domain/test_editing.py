"""Edit: a change of what is declared, what it does to rows and cursor, and what it leaves."""

from datetime import datetime

import pytest

from sempre.domain.planning import Verdict, plan_disable, plan_pause, plan_skip
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.grids import Cron, Every, Grid
from tests.unit.domain.builders import Story, at, gap

IN_SNAPSHOT = {
    "job": "other",
    "args": {"n": 1},
    "queue": "slow",
    "priority": 5,
    "retry": Retry(3),
    "timeout": "5m",
    "on_unknown": "hold",
    "overlap": "wait",
    "deadline": "5m",
    "jitter": "10s",
}
BESIDES = {
    "catch_up": True,
    "catch_up_within": "1h",
    "catch_up_max": 3,
    "tolerance": "5m",
    "retention": "90d",
    "keep": 7,
    "tags": ["a"],
    "owner": "billing",
    "note": "by hand",
}


def changes(fields: dict[str, object]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("field", "value"), list(fields.items()), ids=list(fields))


@changes(IN_SNAPSHOT)
def test_a_row_that_is_not_due_is_replaced_by_one_that_is_right(field: str, value: object) -> None:
    story = Story().go("12:00:30")
    before = story.cursor

    story.edit(**{field: value})

    old, new = story.slot("12:01")
    assert old.state is State.SUPERSEDED
    assert field in old.reason
    assert new.snapshot == story.schedule.snapshot()
    assert story.next_row == new
    assert story.cursor == before
    assert story.ranges == []


@changes(IN_SNAPSHOT)
def test_a_due_row_keeps_its_snapshot_and_still_runs(field: str, value: object) -> None:
    story = Story().go("12:01:10")
    before = story.next_row

    story.edit(**{field: value})

    assert story.next_row == before
    assert story.claim().state is State.RUNNING
    following = story.next_row
    assert following is not None
    assert not following.snapshot.drift_from(story.schedule.snapshot())


@changes(BESIDES)
def test_what_no_execution_needs_to_know_leaves_the_rows_alone(field: str, value: object) -> None:
    story = Story().go("12:00:30")
    before = (story.next_row, story.cursor, story.schedule.revision)

    plan = story.edit(**{field: value})

    assert not plan.changes
    assert not plan.creates
    assert (story.next_row, story.cursor, story.schedule.revision - 1) == before


@changes({**IN_SNAPSHOT, **BESIDES})
def test_every_edit_is_one_revision_and_repeating_it_none(field: str, value: object) -> None:
    story = Story().go("12:01:30")
    before = story.schedule.revision

    story.edit(**{field: value})

    assert story.schedule.revision == before + 1
    assert story.edit(**{field: value}).is_empty


def test_several_changes_at_once_are_one_revision() -> None:
    story = Story()
    before = story.schedule.revision

    story.edit(args={"n": 1}, grid=Every("2m"), note="both")

    assert story.schedule.revision == before + 1


@pytest.mark.parametrize("grid", [Every("5m"), Cron("*/5 * * * *")])
def test_a_new_grid_decides_what_has_passed_and_goes_on_from_now(grid: Grid) -> None:
    story = Story().go("12:01")
    story.run()
    story.go("12:02:10").run()

    story.go("12:02:30").edit(grid=grid)

    assert story.cursor == at("12:02:30")
    assert story.next_at == at("12:05")
    assert story.ranges == []
    assert [state for state, _ in story.told("12:03")] == ["superseded"]


def test_a_new_grid_leaves_a_due_row_and_places_the_next_one_besides() -> None:
    story = Story().go("12:03:30")
    due = story.next_row
    assert due is not None

    story.edit(grid=Every("5m"))

    assert story.rows[due.id].is_live
    assert story.next_at == at("12:05")
    assert story.ranges == [gap("12:02", "12:03", 2, "edited")]
    assert story.claim(story.rows[due.id]).state is State.RUNNING
    assert story.next_at == at("12:05")


def test_a_due_row_left_by_a_new_grid_never_starts_twice() -> None:
    story = Story().go("12:01:30")
    due = story.next_row
    story.edit(grid=Every("5m"))
    assert due is not None
    story.succeed(story.claim(story.rows[due.id]))

    assert story.ask(story.rows[due.id]).verdict is Verdict.STALE


@pytest.mark.parametrize(
    "grid",
    [
        Every("1h", timezone="Europe/Rome"),
        Every("1h", anchor="2026-01-01 00:30"),
        Every("1 day", timezone="Europe/Rome", gap="skip"),
        Every("1 day", timezone="Europe/Rome", fold="last"),
    ],
    ids=["timezone", "anchor", "gap", "fold"],
)
def test_zone_anchor_gap_and_fold_are_changes_of_the_grid(grid: Grid) -> None:
    plain = Every("1h") if "hour" in repr(grid) else Every("1 day", timezone="Europe/Rome")
    story = Story(plain).go("12:10")

    story.edit(grid=grid)

    assert story.cursor == at("12:10")
    following = story.next_row
    assert following is not None
    assert following.snapshot.grid == grid


def test_the_same_grid_in_other_words_is_no_change() -> None:
    story = Story(Every("60m")).go("12:30")

    assert story.edit(grid=Every(1, "hour")).is_empty


def test_another_grid_of_ones_own_is_a_change() -> None:
    class Spaced(Grid):
        def __init__(self, minutes: int) -> None:
            self.minutes = minutes

        def after(self, t: datetime) -> datetime | None:
            return Every(self.minutes, "minutes").after(t)

    story = Story(Spaced(1)).go("12:00:30")

    story.edit(grid=Spaced(10))

    assert story.next_at == at("12:10")


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (1, 1.0)])
def test_arguments_that_differ_as_json_are_a_change(old: object, new: object) -> None:
    story = Story(args={"n": old}).go("12:00:30")

    story.edit(args={"n": new})

    row = story.next_row
    assert row is not None
    assert repr(row.snapshot.args["n"]) == repr(new)


@pytest.mark.parametrize("change", [{"limit": 5}, {"until": at("15:00")}])
def test_an_end_far_away_leaves_the_right_next_row_alone(change: dict[str, object]) -> None:
    story = Story().go("12:00:30")
    before = story.next_row

    plan = story.edit(**change)

    assert story.next_row == before
    assert not plan.changes
    assert story.cursor == at("12:00:30")


def test_an_earlier_end_takes_the_next_row_back() -> None:
    story = Story("10m").go("12:01")

    story.edit(until=at("12:05"))

    assert [state for state, _ in story.told("12:10")] == ["superseded"]
    assert story.next_at is None


def test_an_end_in_the_past_leaves_the_due_row_to_run() -> None:
    story = Story("10m").go("12:11")

    story.edit(until=at("12:05"))

    assert [row.is_live for row in story.slot("12:10")] == [True]
    assert story.claim(story.slot("12:10")[0]).state is State.RUNNING
    assert story.next_at is None


def test_a_limit_already_reached_takes_the_next_row_back() -> None:
    story = Story().go("12:01")
    story.run()

    story.edit(limit=1)

    assert [state for state, _ in story.told("12:02")] == ["superseded"]
    assert story.next_at is None


@pytest.mark.parametrize("change", [{"limit": 9}, {"until": at("15:00")}, {"grid": Every("2m")}])
def test_a_change_of_grid_or_end_moves_the_cursor_to_now(change: dict[str, object]) -> None:
    story = Story().go("12:04:30")

    story.edit(**change)

    assert story.cursor == at("12:04:30")
    assert [(found.first, found.count) for found in story.ranges] == [(at("12:02"), 3)]


def test_an_edit_can_disable_and_the_reason_is_that() -> None:
    story = Story().go("12:01:10")

    story.edit(enabled=False, args={"n": 1})

    assert story.told("12:01") == [("skipped", "disabled")]
    assert story.next_at is None


def test_an_edit_of_a_disabled_schedule_gives_it_no_next_row() -> None:
    story = Story()
    story.perform(plan_disable)

    story.go("12:05").edit(grid=Every("5m"), args={"n": 1})

    assert story.next_at is None
    assert story.ranges == [gap("12:01", "12:05", 5, "disabled")]


def test_an_edit_never_ends_a_pause() -> None:
    story = Story()
    story.perform(plan_pause, until=at("12:30"))

    story.edit(grid=Every("20m"), enabled=True, args={"n": 1})

    assert story.schedule.pause is not None
    assert story.next_at == at("12:40")


def test_a_slot_taken_out_in_advance_stays_out_on_a_grid_that_has_it_too() -> None:
    story = Story()
    story.perform(plan_skip, run_at=at("12:10"))

    story.edit(grid=Every("10m"))

    assert story.next_at == at("12:20")


def test_an_edit_in_its_jitter_accounts_for_the_slot() -> None:
    story = Story("10m", jitter="5m")
    row = story.next_row
    assert row is not None
    story.now = row.run_at + (row.due_at - row.run_at) / 2

    story.edit(grid=Every("7m"))

    rows = [row for row in story.slot("12:10") if row.occupies_slot]
    ranged = [found for found in story.ranges if found.first <= at("12:10") <= found.last]
    assert len(rows) + len(ranged) == 1
