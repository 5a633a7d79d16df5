"""Contracts of the load of records that another store has made."""

# ruff: noqa: S101 - a contract asserts

from dataclasses import replace
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.load import Record
from sempre.ports.messages import ActionQuery, Attempt, Birth, ExecutionQuery, Rollup
from sempre.ports.run_logs import RunLog
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    check_invariants,
    claimed,
    draft_schedule,
    history_of,
    new_id,
    now_of,
    read,
    session_of,
    started,
    view_of,
    wanted,
    without_lease,
    work_of,
)

FENCE = 1_000_000


def _schedule(store: Store, name: str = "billing") -> Birth:
    """Return a schedule whose first slot is due, with its next row."""
    schedule = draft_schedule(store, name, args={"deep": [1, None, {"x": "è"}]})
    return started(schedule, at=schedule.created_at)


def _ended(birth: Birth, at: datetime, **fields: object) -> Execution:
    """Return an execution of a schedule that failed at an instant, hours ago."""
    [row] = birth.rows
    given = {"state": State.FAILED, "reason": "ValueError: no", "attempt": 2, "failures": 2}
    times = {"first_started_at": at, "started_at": at + MINUTE, "finished_at": at + 2 * MINUTE}
    place = {"id": new_id(), "run_at": at, "due_at": at, "fence": FENCE, "session": "elsewhere"}
    return replace(row, **(given | times | place | fields))  # type: ignore[arg-type]


def _one_off(store: Store, at: datetime) -> Execution:
    return copy_with(work_of(store, tags=("money",)).execution, created_at=at, run_at=at, due_at=at)


def _attempts(row: Execution) -> list[Attempt]:
    began = row.run_at
    lost = Attempt(row.id, 7, "s1", began, began + MINUTE, State.SCHEDULED, error="lost: lease")
    late = Attempt(row.id, 7, "s1", began, began + 2 * MINUTE, State.RUNNING, {"ok": [1]})
    last = Attempt(row.id, FENCE, "s2", began, began + 2 * MINUTE, State.FAILED, None, "Error: è")
    return [replace(lost, lost=True), replace(late, late=True), last]


def _life(store: Store, birth: Birth) -> tuple[list[Record], Execution]:
    """Return records of every kind, and the execution that has attempts and a log."""
    now = now_of(store)
    schedule, past = birth.schedule, now - 10 * HOUR
    row = _ended(birth, past)
    ranges = [_range(schedule, now - hours * HOUR) for hours in (20, 30)]
    kinds = (None, Kind.SCHEDULED)
    days = [Rollup(schedule.id, "2026-01-31", state, 3, 1.25) for state in _ENDS]
    rollups = [replace(each, kind=kind) for each in days for kind in kinds]
    action = Action(id=new_id(), verb="pause", target="schedule:è", actor="ada", note="why")
    known = replace(action, before={"paused": False}, after={"paused": True}, at=past)
    log = RunLog(row.id, FENCE, "one\ntwo è\n", past)
    rows = [*birth.rows, row, _one_off(store, past)]
    return [log, *_attempts(row), *rows, schedule, *ranges, *rollups, known], row


_ENDS = (State.FAILED, State.SUCCEEDED)


def _range(schedule: Schedule, first: datetime) -> SlotRange:
    last = first + HOUR
    return SlotRange(schedule_id=schedule.id, first=first, last=last, count=2, reason="paused")


def _everything(store: Store, birth: Birth, row: Execution) -> list[object]:
    """Return what a store answers about the records of a life."""
    schedule = birth.schedule.id
    return [
        [view.schedule for view in store.views([birth.schedule.name]).value],
        list(store.executions(ExecutionQuery(limit=100)).value.items),
        store.ranges(schedule, limit=100).value,
        store.rollups(schedule).value,
        store.attempts(row.id).value,
        store.run_logs(row.id).value,
        list(store.actions(ActionQuery()).value.items),
    ]


def test_loaded_records_are_read_as_they_were_given(store: Store) -> None:
    """With their own instants, states and fences, in whatever order they come."""
    birth = _schedule(store)
    records, row = _life(store, birth)

    assert store.load(records) == len(records)

    rows = sorted(
        (each for each in records if isinstance(each, Execution)),
        key=lambda each: (each.run_at, each.id),
        reverse=True,
    )
    kinds = (SlotRange, Rollup, Attempt, RunLog, Action)
    rest = [[each for each in records if isinstance(each, kind)] for kind in kinds]
    assert _everything(store, birth, row) == [[birth.schedule], rows, *rest]
    check_invariants(store, birth.schedule.name)


def test_a_repeated_load_changes_nothing(store: Store) -> None:
    """A load that was interrupted goes on where it ended."""
    birth = _schedule(store)
    records, row = _life(store, birth)
    half = [each for each in records if isinstance(each, Schedule | Execution | SlotRange)]
    store.load(half)

    assert store.load([]) == 0
    assert store.load([*records, *records]) == len(records) - len(half)
    before = _everything(store, birth, row)
    assert store.load(records) == 0

    assert _everything(store, birth, row) == before


def test_a_loaded_record_does_not_replace_a_known_one(store: Store) -> None:
    """What happened since in the target stays."""
    birth = _schedule(store)
    records, row = _life(store, birth)
    store.load(records)
    before = _everything(store, birth, row)
    other: list[Record] = [
        replace(birth.schedule, revision=9),
        copy_with(row, reason="other"),
        *(replace(each, error="other") for each in _attempts(row)),
        Rollup(birth.schedule.id, "2026-01-31", State.FAILED, 99),
        RunLog(row.id, FENCE, "other", row.run_at),
    ]

    assert store.load(other) == 0

    assert _everything(store, birth, row) == before


def test_records_that_have_no_place_are_left_out(store: Store) -> None:
    """A name or slot of another record, and attempts and logs without their execution."""
    birth = _schedule(store)
    [row] = birth.rows
    store.load([birth.schedule, row])
    nobody = copy_with(row, id=new_id())

    refused: list[Record] = [
        replace(birth.schedule, id=new_id()),
        nobody,
        *_attempts(nobody),
        RunLog(nobody.id, 1, "text", row.run_at),
    ]

    assert store.load(refused) == 0
    assert store.load([replace(birth.schedule, id=new_id(), deleted=True)]) == 1
    assert [each.id for each in history_of(store, birth.schedule)] == [row.id]
    assert store.attempts(nobody.id).value == []
    assert store.run_logs(nobody.id).value == []
    assert [view.schedule for view in store.views([birth.schedule.name]).value] == [birth.schedule]


def test_a_loaded_schedule_is_in_order(store: Store) -> None:
    """Maintenance has nothing to repair, also where the next row came with a later load."""
    now, later = _schedule(store, "now"), _schedule(store, "later")
    store.load([now.schedule, *now.rows, later.schedule])
    store.load(later.rows)
    paused = replace(
        draft_schedule(store, "held"), started=True, pause=Pause(note="è", actor="ada")
    )
    store.load([paused])

    assert store.needing_repair(tzdata=TZDATA, limit=10).value == []
    assert store.suspect(after="", limit=10).value.suspect == ()
    assert view_of(store, "held").schedule == paused


def test_loaded_work_is_claimed_under_a_higher_fence(store: Store) -> None:
    """Of schedules and one-off work alike, once the fences were raised."""
    birth = _schedule(store)
    records, _ = _life(store, birth)
    store.upgrade(fence=FENCE)
    store.load(records)
    session = session_of(store)

    [slot] = birth.rows
    begun = claimed(store, slot.id, session)
    [work] = store.claim_one_off(wanted(), session=session).value

    assert begun.fence > FENCE
    assert work.fence > FENCE
    assert view_of(store, "billing").schedule.starts == 1


def test_a_loaded_running_execution_has_expired(store: Store) -> None:
    """Its session is not one of this store; a worker takes the execution back."""
    birth = _schedule(store)
    row = _ended(birth, now_of(store) - HOUR, state=State.RUNNING, finished_at=None, reason="")

    assert store.load([birth.schedule, row]) == 1 + 1

    assert without_lease(read(store, row.id)) == row
    assert [each.execution.id for each in store.expired(10).value] == [row.id]
