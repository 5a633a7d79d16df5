"""Contracts of a clock that jumped ahead and came back: rows left in the future are found.

A contract cannot set the clock of a store, so contracts write the rows that a jump leaves.
"""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Unpack

from sempre.domain.execution import SlotRange
from sempre.domain.planning import Plan, PlanningTime, plan_reconcile
from sempre.domain.planning.plan import TICK, ScheduleChanges
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import Birth, ExecutionQuery, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    check_invariants,
    draft_schedule,
    due_schedule,
    first_row,
    history_of,
    now_of,
    order_of,
    row_of,
    started,
    view_of,
)

SLOTS = 10 * MINUTE
NO_TIME = timedelta(0)


def _ahead(
    store: Store,
    name: str = "billing",
    *,
    last: timedelta = HOUR,
    rows: Mapping[timedelta, State] = MappingProxyType({}),
    **fields: Unpack[ScheduleChanges],
) -> View:
    """Create a schedule that a jump by two hours has left ahead.

    Its slots are every ten minutes, one of them right now. From that one on they count as missed,
    up to `last` from now; or there are rows, by when they are.
    """
    now = now_of(store)
    draft = draft_schedule(store, name, grid=Every("10m", anchor=now - SLOTS))
    birth = started(copy_with(draft, cursor=now + 2 * HOUR), at=now + 2 * HOUR)
    ended = {"created_at": now, "finished_at": now + 2 * HOUR}
    begun = {State.SUCCEEDED: {"first_started_at": now, "started_at": now}}
    view = View(copy_with(birth.schedule, **fields))
    own = [
        row_of(view, now + after, state=state, **ended, **begun.get(state, {}))
        for after, state in rows.items()
    ]
    assert store.create([Birth(view.schedule, (*birth.rows, *own))]) == [True]
    view = view_of(store, name)
    if last:
        passed = _missed(view, now, now + last)
        plan = Plan(view.schedule, view.schedule, ranges=(passed,))
        assert store.apply([order_of(plan)]) == [True]
    return view


def _missed(view: View, first: datetime, last: datetime) -> SlotRange:
    count = (last - first) // SLOTS + 1
    owner = view.schedule.id
    return SlotRange(schedule_id=owner, first=first, last=last, count=count, reason="missed")


def _came_back(store: Store, name: str = "billing") -> Plan:
    """Heal a schedule as the engine does."""
    reading = store.views([name])
    [view] = reading.value
    now = reading.now
    query = ExecutionQuery(schedule_id=view.schedule.id, since=now, limit=1000)
    rows = {row.id: row for row in (*store.executions(query).value.items, *view.rows)}.values()
    ranges = [each for each in store.ranges(view.schedule.id, limit=1000).value if each.last > now]
    plan = plan_reconcile(view.schedule, rows, PlanningTime(now, TZDATA), passed=ranges)
    assert store.apply([order_of(plan)]) == [True]
    return plan


def _astray(store: Store) -> list[str]:
    found = store.needing_repair(tzdata=TZDATA, limit=100).value
    return sorted(view.schedule.name for view in found)


def test_a_schedule_that_gave_up_slots_in_the_future_is_astray(store: Store) -> None:
    """Found by the slots given up, without a row or skipped; disabled or ended schedules too."""
    due_schedule(store, "healthy")
    _ahead(store, "passed")
    _ahead(store, "ended", ended=True)
    _ahead(store, "skipped", last=NO_TIME, rows={SLOTS: State.MISSED})
    _ahead(store, "ran", last=NO_TIME, rows={SLOTS: State.SUCCEEDED})

    assert _astray(store) == ["ended", "passed", "skipped"]
    assert len(store.needing_repair(tzdata=TZDATA, limit=2).value) == 2


def test_a_schedule_that_is_ahead_is_doubtful(store: Store) -> None:
    """Even if no slot was given up, so that no index leads to the schedule."""
    due_schedule(store, "healthy")
    _ahead(store, "ahead", last=NO_TIME)

    assert _astray(store) == []
    assert store.suspect(after="", limit=10).value.suspect == ("ahead",)


def test_a_cursor_in_the_future_goes_back_and_what_it_passed_over_is_to_come(
    store: Store,
) -> None:
    """Each slot up to now stays decided; the next row is at the first slot after now."""
    _ahead(store)
    before = store.ranges(view_of(store).schedule.id, limit=10).value

    plan = _came_back(store)

    schedule = view_of(store).schedule
    assert schedule.cursor == plan.retracts_after
    [left] = store.ranges(schedule.id, limit=10).value
    assert [(each.first, each.count) for each in before] == [(left.first, 7)]
    assert (left.count, left.last, left.reason) == (1, left.first, "missed")
    assert first_row(store).run_at == left.first + SLOTS
    check_invariants(store)
    assert _astray(store) == []
    assert store.suspect(after="", limit=10).value.suspect == ()
    assert _came_back(store).is_empty


def test_a_cursor_that_is_no_longer_in_the_future_does_not_go_back(store: Store) -> None:
    """The clock may have been set forth again since the return was planned."""
    due_schedule(store)
    before = view_of(store)
    moment = PlanningTime(before.schedule.cursor - HOUR, TZDATA)

    plan = plan_reconcile(before.schedule, before.rows, moment, passed=())

    assert plan.retracts_after is not None
    assert store.apply([order_of(plan)]) == [False]
    assert view_of(store).schedule == before.schedule


def test_what_ran_in_the_future_keeps_its_slot(store: Store) -> None:
    """The slot does not run again; slots that were missed by the wrong clock do."""
    rows = {SLOTS: State.SUCCEEDED, 2 * SLOTS: State.MISSED}
    view = _ahead(store, last=NO_TIME, rows=rows)
    now = view.schedule.cursor - 2 * HOUR
    ran, missed = now + SLOTS, now + 2 * SLOTS

    _came_back(store)

    assert first_row(store).run_at == missed
    rows_then = [row for row in history_of(store, view.schedule) if not row.is_untried]
    told = {row.run_at: (row.state, row.reason) for row in rows_then if row.run_at < now + HOUR}
    assert told == {ran: (State.SUCCEEDED, ""), missed: (State.SUPERSEDED, "clock")}
    check_invariants(store)


def test_what_was_recorded_of_other_schedules_is_kept(store: Store) -> None:
    """Records of the schedule itself in the past are kept too."""
    _ahead(store, "one")
    other = _ahead(store, "other").schedule
    before = store.ranges(other.id, limit=10).value
    own = view_of(store, "one").schedule
    past = SlotRange(
        schedule_id=own.id,
        first=own.created_at - HOUR,
        last=own.created_at - HOUR + TICK,
        count=2,
        reason="paused",
    )
    assert store.apply([order_of(Plan(own, own, ranges=(past,)))]) == [True]

    _came_back(store, "one")

    assert store.ranges(other.id, limit=10).value == before
    assert past in store.ranges(own.id, limit=10).value
    assert len(store.ranges(own.id, limit=10).value) == 2
