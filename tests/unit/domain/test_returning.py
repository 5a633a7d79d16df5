"""A schedule that is ahead of a clock that had jumped comes back to now, and nothing runs twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sempre.domain.definition import define
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Plan, PlanningTime, plan_reconcile, plan_rescue
from sempre.domain.schedule import AHEAD, Schedule
from sempre.domain.states import Kind, State
from sempre.grids import Every, Grid

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
TEN, HOUR = timedelta(minutes=10), timedelta(hours=1)


class FromLast(Grid):
    """Ten minutes after the instant that it is asked from, whatever that is."""

    relative = True

    def after(self, t: datetime) -> datetime | None:
        return t + TEN


def ahead(grid: Grid | None = None, **fields: object) -> Schedule:
    """Return a schedule that a jump by two hours has left there."""
    declared = define(job="bill", grid=grid or Every("10m"))
    given: dict[str, Any] = {"cursor": NOW + 2 * HOUR, "started": True, "starts": 1, **fields}
    return Schedule(id="1", name="bill", definition=declared, created_at=NOW - HOUR, **given)


def row(schedule: Schedule, run_at: datetime, state: State, **fields: Any) -> Execution:  # noqa: ANN401 - as it has them
    told: dict[str, Any] = {"schedule_id": schedule.id, "created_at": NOW, "due_at": run_at}
    kind, snapshot = Kind.SCHEDULED, schedule.snapshot()
    return Execution(
        id=f"{run_at}", run_at=run_at, kind=kind, state=state, snapshot=snapshot, **told, **fields
    )


def missed(first: datetime, last: datetime, count: int) -> SlotRange:
    return SlotRange(schedule_id="1", first=first, last=last, count=count, reason="missed")


def rewind_cursor(
    schedule: Schedule, *rows: Execution, passed: tuple[SlotRange, ...] = (), late: timedelta = TEN
) -> Plan:
    return plan_reconcile(schedule, rows, PlanningTime(NOW + late / 2), passed=passed)


def test_the_next_row_is_at_the_first_slot_from_now() -> None:
    schedule = ahead()
    far = row(schedule, NOW + 2 * HOUR + TEN, State.SCHEDULED)

    plan = rewind_cursor(schedule, far, passed=(missed(NOW - HOUR, NOW + 2 * HOUR, 19),))

    assert plan.schedule is not None
    assert plan.schedule.cursor == plan.retracts_after == NOW + TEN / 2
    assert [draft.run_at for draft in plan.creates] == [NOW + TEN]
    [change] = plan.changes
    assert (change.after.state, change.after.reason) == (State.SUPERSEDED, "drift: run_at")
    assert plan.ranges == (missed(NOW - HOUR, NOW, 7),)
    assert plan.schedule.revision == schedule.revision


def test_what_lies_wholly_in_the_future_is_forgotten_and_what_lies_in_the_past_stays() -> None:
    plan = rewind_cursor(ahead(), passed=(missed(NOW + TEN, NOW + HOUR, 6),))

    assert plan.retracts_after == NOW + TEN / 2
    assert plan.ranges == ()


@pytest.mark.parametrize(
    ("state", "reason", "is_open"),
    [
        (State.MISSED, "deadline", True),
        (State.SKIPPED, "overlap", True),
        (State.SKIPPED, "switched off by incident", True),
        (State.SKIPPED, "requested", False),
        (State.CANCELLED, "requested", False),
    ],
)
def test_a_slot_that_was_given_up_by_the_wrong_clock_is_open_again(
    state: State, reason: str, *, is_open: bool
) -> None:
    schedule = ahead()
    decided = row(schedule, NOW + TEN, state, reason=reason, finished_at=NOW + 2 * HOUR)

    plan = rewind_cursor(schedule, decided)

    assert [draft.run_at for draft in plan.creates] == [NOW + (TEN if is_open else 2 * TEN)]
    assert [change.after.reason for change in plan.changes] == (["clock"] if is_open else [])


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.RUNNING, State.SKIPPED])
def test_what_ran_does_not_run_again(state: State) -> None:
    schedule = ahead()
    ran = row(schedule, NOW + TEN, state, first_started_at=NOW + 2 * HOUR, reason="not needed")

    plan = rewind_cursor(schedule, ran)

    assert plan.changes == ()
    assert [draft.run_at for draft in plan.creates] == [NOW + 2 * TEN]


def test_one_that_had_ended_by_the_wrong_clock_goes_on() -> None:
    schedule = ahead(ended=True)
    declared = replace(schedule.definition, until=NOW + HOUR)

    plan = rewind_cursor(replace(schedule, definition=declared))

    assert plan.schedule is not None
    assert (plan.schedule.ended, plan.schedule.next_run_at) == (False, NOW + TEN)


def test_a_disabled_one_comes_back_without_a_row() -> None:
    schedule = ahead()
    declared = replace(schedule.definition, enabled=False)

    plan = rewind_cursor(replace(schedule, definition=declared))

    assert plan.schedule is not None
    assert plan.schedule.cursor == NOW + TEN / 2
    assert plan.creates == ()


def test_a_relative_grid_goes_on_from_its_last_slot() -> None:
    schedule = ahead(FromLast())

    plan = rewind_cursor(schedule, passed=(missed(NOW - 3 * TEN, NOW + 2 * HOUR, 16),))

    assert plan.schedule is not None
    assert (plan.schedule.cursor, plan.schedule.next_run_at) == (NOW, NOW + TEN)


def test_a_clock_that_differs_a_little_changes_nothing() -> None:
    schedule = ahead(cursor=NOW + AHEAD)
    waiting = row(schedule, NOW + TEN, State.SCHEDULED)

    plan = plan_reconcile(
        replace(schedule, next_run_at=NOW + TEN), [waiting], PlanningTime(NOW), passed=()
    )

    assert plan.is_empty


def test_a_row_that_is_farther_than_the_grid_allows_is_drift_where_the_cursor_is_right() -> None:
    schedule = ahead(cursor=NOW - TEN, next_run_at=NOW + 2 * HOUR)
    far = row(schedule, NOW + 2 * HOUR, State.SCHEDULED)

    plan = plan_reconcile(schedule, [far], PlanningTime(NOW + TEN / 2))

    assert [draft.run_at for draft in plan.creates] == [NOW]
    assert plan.changes[0].after.state is State.SUPERSEDED
    assert plan.retracts_after is None


def test_a_run_ahead_of_the_cursor_that_is_held_decides_its_slot_alone() -> None:
    declared = define(job="bill", grid=Every("10m"), on_unknown="hold")
    schedule = replace(ahead(), definition=declared, cursor=NOW)
    lost = row(schedule, NOW + TEN, State.RUNNING, started_at=NOW - TEN, leased_until=NOW, fence=1)

    plan = plan_rescue(schedule, lost, [lost], PlanningTime(NOW + 3 * TEN))

    decided = [
        slot for each in plan.ranges for slot in declared.grid.between(each.first - TEN, each.last)
    ]
    assert lost.run_at not in decided
    assert decided == [NOW + 2 * TEN, NOW + 3 * TEN]
