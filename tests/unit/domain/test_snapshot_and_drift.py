"""A row carries what it runs; what it carries is compared by value and by the age of its zones."""

from dataclasses import fields, replace
from datetime import datetime

import pytest

from sempre.domain.limits import Concurrency
from sempre.domain.planning import plan_pause, plan_reconcile, plan_resume
from sempre.domain.policies import Retry
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import State
from sempre.grids import Every, Grid
from tests.unit.domain.builders import Story, at

PLAIN = Snapshot(name="billing", job="bill", grid=Every("1m"))
OTHER: dict[str, object] = {
    "job": "other",
    "args": {"n": 1},
    "queue": "slow",
    "priority": 5,
    "grid": Every("2m"),
    "retry": Retry(1),
    "timeout": Every,
    "on_unknown": "hold",
    "overlap": "wait",
    "deadline": 5,
    "jitter": 6,
    "tags": ("eu",),
    "redact": ("iban",),
    "limits": (Concurrency(3),),
    "name": "renamed",
}


class Moved(Grid):
    """The minutes, as two versions of the zones have them: a newer one puts them 10 s later."""

    newer = False

    def after(self, t: datetime) -> datetime | None:
        anchor = "2026-01-01T00:00:10Z" if type(self).newer else "2026-01-01T00:00:00Z"
        return Every("1m", anchor=anchor).after(t)


@pytest.fixture
def moved() -> type[Moved]:
    """Return a grid class of which one test can move the zones."""

    class Own(Moved):
        newer = False

    return Own


@pytest.mark.parametrize("field", OTHER)
def test_each_field_that_differs_is_named(field: str) -> None:
    changed = replace(PLAIN, **{field: OTHER[field]})  # type: ignore[arg-type]

    assert changed.drift_from(PLAIN) == (field,)
    assert PLAIN.drift_from(changed) == (field,)


def test_every_field_but_the_revision_and_the_trace_is_compared() -> None:
    assert {each.name for each in fields(Snapshot)} == {*OTHER, "revision", "trace"}
    assert replace(PLAIN, revision=7, trace="00-1-1-01").drift_from(PLAIN) == ()


def test_a_grid_in_another_zone_is_drift_though_it_yields_the_same_instants() -> None:
    rome = replace(PLAIN, grid=Every("1m", timezone="Europe/Rome"))

    assert rome.drift_from(PLAIN) == ("grid",)


def test_a_next_row_is_stamped_with_the_version_of_the_zones() -> None:
    row = Story().next_row

    assert row is not None
    assert row.tzdata == "2026.1"


@pytest.mark.parametrize("ours", ["2026.1", "2026.2", "2026.10", "2027.1"])
def test_zones_as_new_or_newer_move_the_row(moved: type[Moved], ours: str) -> None:
    story = Story(moved())
    moved.newer = True
    story.tzdata = ours

    story.perform(plan_reconcile)

    assert story.next_at == at("12:00:10")
    assert [row.tzdata for row in story.slot("12:00:10")] == [ours]
    assert [state for state, _ in story.told("12:01")] == ["superseded"]


@pytest.mark.parametrize(
    ("theirs", "ours"), [("2026.2", "2026.1"), ("2026.10", "2026.6"), ("2027.1", "2026.12")]
)
def test_older_zones_leave_the_row_alone(moved: type[Moved], theirs: str, ours: str) -> None:
    story = Story(moved(), start=True)
    row = story.next_row
    assert row is not None
    story.rows[row.id] = replace(row, tzdata=theirs)
    moved.newer = True
    story.tzdata = ours

    assert story.perform(plan_reconcile).is_empty


def test_two_processes_with_different_zones_do_not_replace_each_others_rows_for_ever(
    moved: type[Moved],
) -> None:
    story = Story(moved())
    plans = []
    for _ in range(3):
        for moved.newer, story.tzdata in ((False, "2026.1"), (True, "2026.2")):
            plans.append(story.perform(plan_reconcile))

    assert [plan.is_empty for plan in plans] == [True, False, True, True, True, True]
    assert story.next_at == at("12:00:10")


def test_a_row_that_newer_zones_leave_in_place_gets_their_stamp_and_nothing_else() -> None:
    story = Story()
    before = story.next_row
    story.tzdata = "2026.9"

    story.perform(plan_reconcile)

    assert before is not None
    assert story.next_row == replace(before, tzdata="2026.9")
    assert story.perform(plan_reconcile).is_empty


def test_a_due_row_is_not_moved_by_newer_zones(moved: type[Moved]) -> None:
    story = Story(moved()).go("12:01")
    moved.newer = True
    story.tzdata = "2027.1"

    plan = story.perform(plan_reconcile)

    assert plan.creates == ()
    assert [change.after.state for change in plan.changes] == [State.PENDING]
    assert story.claim().state is State.RUNNING


def test_a_process_with_older_zones_still_applies_an_edit() -> None:
    story = Story()
    story.tzdata = "2025.1"

    story.edit(args={"n": 1})

    row = story.next_row
    assert row is not None
    assert (row.snapshot.args, row.tzdata) == ({"n": 1}, "2025.1")


def test_a_pause_by_a_process_with_older_zones_moves_the_next_row() -> None:
    story = Story("10m")
    story.tzdata = "2025.1"

    story.perform(plan_pause, until=at("12:35"))

    assert story.next_at == at("12:40")


def test_a_resume_by_a_process_with_older_zones_moves_the_next_row() -> None:
    story = Story("10m")
    story.perform(plan_pause, until=at("12:35"))
    story.tzdata = "2025.1"

    story.go("12:01").perform(plan_resume)

    assert story.next_at == at("12:10")


def test_a_row_without_a_stamp_may_be_moved_by_anyone(moved: type[Moved]) -> None:
    story = Story(moved())
    row = story.next_row
    assert row is not None
    story.rows[row.id] = replace(row, tzdata="")
    moved.newer = True

    story.perform(plan_reconcile)

    assert story.next_at == at("12:00:10")
