"""Contracts of retention: what a schedule keeps, and what a purge examines."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Plan, plan_delete, plan_edit
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, Order, View
from sempre.ports.retention import Purge, Purged
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    draft_schedule,
    enqueued,
    history_of,
    now_of,
    perform,
    row_of,
    session_of,
    succeed,
    view_of,
    wanted,
)

DAY = timedelta(days=1)
WEEK = 7 * DAY


def _schedule(
    store: Store, days: Sequence[float], name: str = "billing", **policies: object
) -> tuple[Schedule, list[str]]:
    """Return a schedule with executions that ended these days ago, oldest first, by their ids."""
    schedule = draft_schedule(store, name, **policies)
    now = now_of(store)
    rows = [_past(schedule, now - each * DAY) for each in days]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    return schedule, [row.id for row in rows]


def _past(schedule: Schedule, ended: datetime, **given: Any) -> Execution:  # noqa: ANN401
    begun = ended - timedelta(seconds=1)
    times = {"first_started_at": begun, "started_at": begun, "finished_at": ended}
    known = {"kind": Kind.MANUAL, "state": State.SUCCEEDED, "attempt": 1}
    return row_of(View(schedule), begun, **(known | times | given))


def _purge(store: Store, days: float = 30, limit: int = 100, **asked: Any) -> Purged:  # noqa: ANN401
    return store.purge(Purge(before=now_of(store) - days * DAY, limit=limit, **asked))


def _left(store: Store, schedule: Schedule) -> set[str]:
    return {row.id for row in history_of(store, schedule)}


def test_the_newest_executions_of_a_schedule_stay_at_any_age(store: Store) -> None:
    """A monthly job has a history; the counts of older executions stay."""
    schedule, ids = _schedule(store, [400, 300, 200, 100, 50], keep=3)

    assert _purge(store).count == 2

    assert _left(store, schedule) == set(ids[2:])
    assert sum(each.count for each in store.rollups(schedule.id).value) == 2
    assert _purge(store).count == 0


def test_a_schedule_that_keeps_none_loses_every_old_execution(store: Store) -> None:
    """And a schedule that has fewer than it keeps loses none."""
    bare, _ = _schedule(store, [200, 100], "bare", keep=0)
    rare, ids = _schedule(store, [200, 100], "rare", keep=3)

    assert _purge(store).count == 2

    assert (_left(store, bare), _left(store, rare)) == (set(), set(ids))


def test_recent_executions_count_among_those_that_are_kept(store: Store) -> None:
    """So a frequent job keeps nothing beyond its retention."""
    schedule, ids = _schedule(store, [60, 50, 40, 3, 2, 1], keep=3)

    assert _purge(store).count == 3

    assert _left(store, schedule) == set(ids[3:])


def test_what_finished_at_the_instant_of_the_last_kept_execution_stays(store: Store) -> None:
    """Ends have no order within an instant."""
    schedule, ids = _schedule(store, [60, 50, 50, 50, 40], keep=2)

    assert _purge(store).count == 1

    assert _left(store, schedule) == set(ids[1:])


def test_a_purge_goes_on_where_another_one_ended(store: Store) -> None:
    """Executions before that place are not examined again; those that are kept cost nothing."""
    schedule, ids = _schedule(store, [60, 50, 40, 35, 32], keep=3)

    first = _purge(store, limit=2)
    second = _purge(store, limit=2, after=first.after)
    last = _purge(store, limit=2, after=second.after)

    assert [each.count for each in (first, second, last)] == [2, 0, 0]
    assert [each.more for each in (first, second, last)] == [True, True, False]
    assert _left(store, schedule) == set(ids[2:])
    again = _purge(store, limit=2, after=last.after)
    assert (again.count, again.more) == (0, False)


def test_the_end_of_a_purge_lies_before_what_is_not_old_yet(store: Store) -> None:
    """The next purge begins with the execution that has become old meanwhile."""
    schedule, ids = _schedule(store, [60, 20, 10], keep=0)

    first = _purge(store)
    second = _purge(store, days=15, after=first.after)

    assert (first.count, second.count) == (1, 1)
    assert _left(store, schedule) == {ids[2]}


def test_what_newer_executions_push_out_goes_when_one_of_them_is_examined(store: Store) -> None:
    """Though it lies before the place where the purge begins."""
    schedule, ids = _schedule(store, [90, 80, 20, 10], keep=4)
    first = _purge(store)
    assert first.count == 0
    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(keep=2))

    second = _purge(store, days=15, after=first.after)

    assert second.count == 2
    assert _left(store, schedule) == set(ids[2:])
    assert sum(each.count for each in store.rollups(schedule.id).value) == 2


def test_what_is_pushed_out_goes_in_small_transactions(store: Store) -> None:
    """The purge stays at its place until nothing is left to go, oldest first."""
    schedule, ids = _schedule(store, [90, 80, 70, 60, 50, 20, 10], keep=7)
    first = _purge(store)
    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(keep=1))

    second = _purge(store, days=15, limit=2, after=first.after)
    assert second == Purged(2, first.after, more=True)
    assert _left(store, schedule) == set(ids[2:])
    third = _purge(store, days=15, limit=2, after=second.after)
    assert third == Purged(2, first.after, more=True)
    last = _purge(store, days=15, limit=2, after=third.after)

    assert (last.count, last.more) == (2, False)
    assert _left(store, schedule) == {ids[6]}


def test_a_retention_of_its_own_decides_for_a_schedule(store: Store) -> None:
    """A purge concerns the schedules of one retention; the others are left alone."""
    short, short_ids = _schedule(store, [50, 8, 6], "short", keep=0, retention=WEEK)
    other, other_ids = _schedule(store, [50, 8, 6], "other", keep=0)

    assert _purge(store, days=7, retention=WEEK).count == 2
    assert (_left(store, short), _left(store, other)) == ({short_ids[2]}, set(other_ids))

    assert _purge(store, days=7, retention=2 * WEEK).count == 0
    assert _purge(store, days=7).count == 2
    assert (_left(store, short), _left(store, other)) == ({short_ids[2]}, {other_ids[2]})
    assert _purge(store, days=1, retention="any").count == 2


def test_retentions_of_schedules_are_listed_once(store: Store) -> None:
    """Shortest first; a retention that no schedule has any more is left out."""
    assert store.retentions() == []
    for name, retention in {
        "a": WEEK,
        "b": DAY,
        "c": WEEK,
        "d": None,
        "billing": 30 * WEEK,
    }.items():
        _schedule(store, [], name, retention=retention)
    assert store.retentions() == [DAY, WEEK, 30 * WEEK]

    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(retention=None))
    assert store.retentions() == [DAY, WEEK]
    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(retention="2d"))

    assert store.retentions() == [DAY, 2 * DAY, WEEK]


def test_a_deleted_schedule_keeps_nothing(store: Store) -> None:
    """Its executions go by age alone."""
    schedule, _ = _schedule(store, [400, 300, 200], keep=3)
    assert _purge(store).count == 0
    perform(store, plan_delete)

    assert _purge(store).count == 3

    assert [row for row in history_of(store, schedule) if row.kind is Kind.MANUAL] == []


def test_another_number_may_be_asked_for(store: Store) -> None:
    """As an operator does who makes room."""
    schedule, ids = _schedule(store, [60, 50, 40], keep=100)

    assert _purge(store, keep=1).count == 2

    assert _left(store, schedule) == {ids[2]}


def test_old_executions_can_be_counted_without_deleting_any(store: Store) -> None:
    """Page by page, each once."""
    schedule, ids = _schedule(store, [60, 55, 50, 40, 35], keep=2)

    first = _purge(store, limit=2, count_only=True)
    second = _purge(store, limit=2, count_only=True, after=first.after)
    last = _purge(store, limit=2, count_only=True, after=second.after)

    assert [each.count for each in (first, second, last)] == [2, 1, 0]
    assert [each.more for each in (first, second, last)] == [True, True, False]
    assert _left(store, schedule) == set(ids)
    assert store.rollups(schedule.id).value == []


def test_one_off_work_goes_by_age_under_the_setting_alone(store: Store) -> None:
    """A purge under a retention of schedules leaves one-off work alone."""
    enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    succeed(store, row)

    assert _purge(store, days=-1, retention=WEEK).count == 0
    assert _purge(store, days=-1, keep=100).count == 1


def test_an_execution_that_waits_again_is_not_purged(store: Store) -> None:
    """Its last attempt is over, and it counts among the finished ones, but it has not ended."""
    schedule = draft_schedule(store, keep=1)
    now = now_of(store)
    waiting = _past(schedule, now - 40 * DAY, state=State.SCHEDULED)
    rows = [waiting, _past(schedule, now - 50 * DAY), _past(schedule, now - 35 * DAY)]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]

    assert _purge(store).count == 1

    assert _left(store, schedule) == {rows[0].id, rows[2].id}


def test_ranges_of_slots_outlive_executions(store: Store) -> None:
    """They are the only record of why these slots did not run."""
    schedule, _ = _schedule(store, [60], retention=WEEK, keep=0)
    now = now_of(store)
    passed = SlotRange(
        schedule_id=schedule.id,
        first=now - 90 * DAY,
        last=now - 40 * DAY,
        count=50,
        reason="missed",
    )
    assert store.apply([Order(Plan(schedule, schedule, ranges=(passed,)))]) == [True]

    assert _purge(store, days=7, retention=WEEK).count == 1
    assert _purge(store, days=7, retention="any").count == 0

    assert store.ranges(schedule.id, limit=9).value == [passed]


def test_ranges_of_slots_are_listed_up_to_an_instant(store: Store) -> None:
    """By their first slot, newest first: so a caller reads them page by page."""
    schedule, _ = _schedule(store, [])
    now = now_of(store)
    firsts = [now - days * DAY for days in (50, 40, 30, 20)]
    ranges = tuple(
        SlotRange(schedule_id=schedule.id, first=each, last=each + DAY, count=2, reason="paused")
        for each in firsts
    )
    assert store.apply([Order(Plan(schedule, schedule, ranges=ranges))]) == [True]

    def listed(limit: int, before: datetime | None) -> list[datetime]:
        found = store.ranges(schedule.id, limit=limit, before=before).value
        return [each.first for each in found]

    assert listed(9, None) == firsts[::-1]
    assert listed(2, firsts[3]) == [firsts[2], firsts[1]]
    assert listed(2, firsts[1]) == [firsts[0]]
    assert listed(2, firsts[1] + timedelta(microseconds=1)) == [firsts[1], firsts[0]]
    assert listed(2, firsts[0]) == []
