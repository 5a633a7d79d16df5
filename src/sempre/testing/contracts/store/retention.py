"""Contracts of purge: old ended rows are deleted, their counts stay, and no slot runs again."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import datetime, timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Plan, plan_skip, plan_success
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, Order, Rollup, Settled, Settlement, View
from sempre.ports.retention import Purge
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    check_invariants,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    first_row,
    history_of,
    moment_of,
    new_id,
    now_of,
    perform,
    row_of,
    session_of,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
)

DAY = timedelta(days=1)


def _past(
    schedule: Schedule,
    ended: datetime,
    state: State = State.SUCCEEDED,
    took: int = 1,
    kind: Kind = Kind.MANUAL,
) -> Execution:
    begun = ended - took * timedelta(seconds=1)
    times = {"first_started_at": begun, "started_at": begun, "finished_at": ended}
    return row_of(View(schedule), begun, kind=kind, state=state, attempt=1, **times)


def _purge(store: Store, before: datetime, limit: int) -> int:
    """Purge by age alone, from the beginning; return how many executions went."""
    return store.purge(Purge(before=before, limit=limit, keep=0)).count


def test_a_purge_takes_what_ended_before_an_instant(store: Store) -> None:
    """Ends count, not slots; rows that ended at the instant stay."""
    schedule = draft_schedule(store)
    before = now_of(store) - 10 * DAY
    ends = [before - DAY, before - timedelta(microseconds=1), before, before + DAY]
    rows = [_past(schedule, end) for end in ends]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]

    assert _purge(store, before=before, limit=100) == 2
    assert _purge(store, before=before, limit=100) == 0

    assert {row.id for row in history_of(store, schedule)} == {rows[2].id, rows[3].id}


def test_a_purge_takes_as_many_as_asked_for_oldest_first(store: Store) -> None:
    """In small transactions, until there is nothing left."""
    schedule = draft_schedule(store)
    before = now_of(store) - 10 * DAY
    rows = [_past(schedule, before - number * MINUTE) for number in range(1, 8)]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]

    assert _purge(store, before=before, limit=3) == 3
    assert {row.id for row in history_of(store, schedule)} == {row.id for row in rows[:4]}
    assert [_purge(store, before=before, limit=3) for _ in range(3)] == [3, 1, 0]


def test_what_is_purged_is_counted_by_day_state_and_kind(store: Store) -> None:
    """The day is the slot's day in UTC; seconds are the durations of the last attempts."""
    schedule = draft_schedule(store)
    noon = (now_of(store) - 30 * DAY).replace(hour=12)
    rows = [_past(schedule, noon, took=took) for took in (10, 20)]
    rows += [_past(schedule, noon, State.FAILED, took=5), _past(schedule, noon + DAY, took=7)]
    rows += [_past(schedule, noon, took=3, kind=Kind.BACKFILL)]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    assert store.rollups(schedule.id).value == []

    assert _purge(store, before=noon + 2 * DAY, limit=2) == 2
    assert _purge(store, before=noon + 2 * DAY, limit=100) == 3

    days = [day.date().isoformat() for day in (noon, noon + DAY)]
    found = store.rollups(schedule.id).value
    assert [each.day for each in found] == sorted(each.day for each in found)
    assert sorted(found, key=lambda each: each.order) == [
        Rollup(schedule.id, days[0], State.FAILED, 1, 5.0, Kind.MANUAL),
        Rollup(schedule.id, days[0], State.SUCCEEDED, 1, 3.0, Kind.BACKFILL),
        Rollup(schedule.id, days[0], State.SUCCEEDED, 2, 30.0, Kind.MANUAL),
        Rollup(schedule.id, days[1], State.SUCCEEDED, 1, 7.0, Kind.MANUAL),
    ]
    assert store.rollups(draft_schedule(store).id).value == []


def test_what_lives_or_runs_is_never_purged(store: Store) -> None:
    """At any age of the slot."""
    due_schedule(store)
    claimed(store, due_schedule(store, "running").rows[0].id, session_of(store))
    enqueued(store, due_in=-100 * DAY)
    names = ["billing", "running"]
    before = [view_of(store, name) for name in names]

    assert _purge(store, before=now_of(store) + DAY, limit=100) == 0

    assert [view_of(store, name) for name in names] == before
    assert len(store.claim_one_off(wanted(), session=session_of(store)).value) == 1


def test_a_skipped_slot_that_is_to_come_outlives_a_purge(store: Store) -> None:
    """Otherwise the slot would run after all."""
    slot = waiting_schedule(store).rows[0].run_at
    perform(store, plan_skip, run_at=slot)
    before = view_of(store)

    _purge(store, before=now_of(store) + 10 * DAY, limit=100)

    assert view_of(store) == before
    assert first_row(store).run_at == slot + HOUR


def test_a_purged_slot_does_not_run_again(store: Store) -> None:
    """The cursor records the decision after the rows are gone."""
    row = due_schedule(store).rows[0]
    succeed(store, claimed(store, row.id, session_of(store)))
    schedule = view_of(store).schedule

    assert _purge(store, before=now_of(store) + DAY, limit=100) == 1

    assert store.candidates([row.id]).value == []
    assert store.attempts(row.id).value == []
    assert view_of(store).schedule == schedule
    check_invariants(store)


def test_one_off_work_is_purged_too(store: Store) -> None:
    """One-off work has no schedule whose counts could include it."""
    enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    succeed(store, row)

    assert _purge(store, before=now_of(store) - DAY, limit=100) == 0
    assert _purge(store, before=now_of(store) + DAY, limit=100) == 1

    assert store.candidates([row.id]).value == []


def test_a_purge_forgets_sessions_that_lost_their_lease_long_ago(store: Store) -> None:
    """Up to the given number; live and recently expired sessions stay."""
    alive, late = session_of(store), session_of(store, lease=-HOUR)
    old = [session_of(store, lease=-(20 + number) * DAY) for number in range(5)]
    before = now_of(store) - 10 * DAY

    _purge(store, before=before, limit=2)
    assert {each.id for each in store.sessions().value} == {alive, late, *old[:3]}
    _purge(store, before=before, limit=100)
    assert {each.id for each in store.sessions().value} == {alive, late}

    _purge(store, before=now_of(store) + 10 * DAY, limit=100)
    assert {each.id for each in store.sessions().value} == {alive}


def test_a_purge_forgets_late_results_of_what_is_gone(store: Store) -> None:
    """Results that came after the purge of the execution; results of existing executions stay."""
    session = session_of(store)
    rows = [claimed(store, due_schedule(store, name).rows[0].id, session) for name in "ab"]
    for row in rows:
        succeed(store, row)
    assert _purge(store, before=now_of(store) + DAY, limit=1) == 1
    [kept] = [each.execution for each in store.candidates([row.id for row in rows]).value]
    [gone] = [row for row in rows if row.id != kept.id]
    for row in rows:
        zombie = copy_with(row, fence=row.fence - 1000)
        late = Settlement(zombie, plan_success(zombie, moment_of(store)), error="too late")
        assert store.settle([late], session=session) == [Settled.LATE]

    _purge(store, before=now_of(store) - DAY, limit=100)
    assert [each.error for each in store.attempts(gone.id).value] == ["too late"]

    _purge(store, before=now_of(store) + DAY, limit=0)
    assert len(store.attempts(gone.id).value) == 1
    _purge(store, before=now_of(store) + DAY, limit=100)
    assert store.attempts(gone.id).value == []


def test_ranges_of_slots_are_purged_oldest_first(store: Store) -> None:
    """Up to the given number, in order of the last slot; one that ends at the instant stays."""
    schedule = draft_schedule(store)
    assert store.create([Birth(schedule)]) == [True]
    before = now_of(store) - 10 * DAY
    days = [4, 2, 5, 1, 3, 0, -1]
    ranges = tuple(
        SlotRange(
            schedule_id=schedule.id,
            first=before - 9 * DAY,
            last=before - number * DAY,
            count=number + 10,
            reason="missed",
        )
        for number in days
    )
    assert store.apply([Order(Plan(schedule, schedule, ranges=ranges))]) == [True]

    def left() -> set[int]:
        return {each.count - 10 for each in store.ranges(schedule.id, limit=100).value}

    assert left() == set(days)
    assert store.purge_ranges(before=before, limit=2) == 2
    assert left() == {3, 2, 1, 0, -1}
    assert store.purge_ranges(before=before, limit=100) == 3
    assert left() == {0, -1}
    assert store.purge_ranges(before=before, limit=100) == 0


def test_the_next_pass_is_due_when_the_last_one_said_so(store: Store) -> None:
    """Only the worker that began the pass sets the date; other reports do not count."""
    holder = new_id()
    assert store.begin_pass(holder=holder, every=HOUR) is not None

    store.finish_pass(holder=new_id(), report={}, due_in=timedelta(0))
    assert store.last_pass().value.due_at > now_of(store) + 50 * MINUTE
    store.finish_pass(holder=holder, report={"purged": 1}, due_in=5 * MINUTE)

    last = store.last_pass()
    assert timedelta(0) < last.value.due_at - last.now <= 5 * MINUTE
    assert last.value.report == {"purged": 1}
    store.finish_pass(holder=holder, report={}, due_in=timedelta(0))
    assert store.begin_pass(holder=new_id(), every=HOUR) is not None
