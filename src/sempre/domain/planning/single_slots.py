"""Single slots: taking one out in advance, putting it back, running one by hand or again."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.reconciling import reconcile
from sempre.domain.planning.sheet import TICK, Moment, Plan, Sheet
from sempre.domain.planning.steps import first_slot_from, slots_until
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.errors import Refused
from sempre.grids.instants import as_instant

__all__ = ["plan_backfill", "plan_skip", "plan_trigger", "plan_unskip"]

Rows = Iterable[Execution]
LARGEST_BACKFILL = 10_000


def plan_skip(
    schedule: Schedule, rows: Rows, moment: Moment, *, run_at: datetime, actor: str = ""
) -> Plan:
    """Take one future slot out. The cursor stays; the next row moves on if it was there.

    Raises:
        Refused: the instant is past or decided, or is no slot of the schedule.
    """
    run_at = as_instant("run_at", run_at)
    _refuse_deleted(schedule)
    _refuse_past(schedule, run_at, moment.now, "skipped")
    found = first_slot_from(schedule.definition.grid, schedule.cursor, run_at)
    if found != run_at:
        message = f"{run_at} is not a slot of {schedule.name}; the next one after it is {found}."
        raise Refused(message)
    sheet = Sheet(schedule, rows, moment, actor=actor)
    there = [row for row in sheet.rows.values() if row.occupies_slot and row.run_at == run_at]
    if any(row.state is State.SKIPPED for row in there):
        return sheet.plan()
    if any(not row.is_live for row in there):
        message = f"the slot {run_at} of {schedule.name} is already decided."
        raise Refused(message)
    for row in there:
        sheet.move(row, State.SUPERSEDED, Reason.REQUESTED)
    sheet.create(run_at, state=State.SKIPPED, reason=Reason.REQUESTED)
    sheet.update(revision=schedule.revision + 1)
    reconcile(sheet)
    return sheet.plan()


def plan_unskip(
    schedule: Schedule, rows: Rows, moment: Moment, *, run_at: datetime, actor: str = ""
) -> Plan:
    """Put a skipped future slot back. Nothing if it is not skipped.

    Raises:
        Refused: the instant is past: what was decided stays decided.
    """
    run_at = as_instant("run_at", run_at)
    _refuse_past(schedule, run_at, moment.now, "put back")
    sheet = Sheet(schedule, rows, moment, actor=actor)
    for row in list(sheet.rows.values()):
        if row.occupies_slot and row.run_at == run_at and row.state is State.SKIPPED:
            sheet.move(row, State.SUPERSEDED, Reason.REQUESTED)
            sheet.update(revision=schedule.revision + 1)
            reconcile(sheet)
    return sheet.plan()


def plan_trigger(schedule: Schedule, moment: Moment, *, actor: str = "") -> Plan:
    """Run it now, besides its slots; also if it is disabled or paused."""
    _refuse_deleted(schedule)
    sheet = Sheet(schedule, (), moment, actor=actor)
    sheet.create(moment.now, kind=Kind.MANUAL, reason=Reason.REQUESTED)
    return sheet.plan()


def plan_backfill(
    schedule: Schedule,
    rows: Rows,
    moment: Moment,
    *,
    start: datetime,
    end: datetime,
    ranges: Iterable[SlotRange] = (),
    retention: timedelta = timedelta(days=30),
    actor: str = "",
) -> Plan:
    """Run past slots that did not succeed, from `start` to `end`, both inclusive.

    Only decided slots within retention are taken, and none that has succeeded or is under way. Of a
    relative grid only slots on record are known: by a row, or by one of the given ranges.

    Raises:
        Refused: the schedule is disabled, paused or deleted, or the stretch is empty or has too
            many slots for one go, or none of a relative grid is on record.
    """
    _refuse_deleted(schedule)
    if not schedule.allows_start(moment.now):
        message = f"{schedule.name} is disabled or paused; enable or resume it before a backfill."
        raise Refused(message)
    start, end = as_instant("start", start), as_instant("end", end)
    if end < start:
        message = f"a backfill from {start} to {end} is empty; the end comes after the start."
        raise Refused(message)
    sheet = Sheet(schedule, rows, moment, actor=actor)
    settled = {row.run_at for row in sheet.rows.values() if _needs_no_backfill(row)}
    oldest, newest = max(start, moment.now - retention) - TICK, min(end, schedule.cursor)
    if schedule.definition.grid.relative:
        slots = _on_record(sheet, ranges, oldest, newest)
    else:
        _refuse_too_many(schedule, oldest, newest)
        slots = schedule.definition.grid.between(oldest, newest)
    for slot in slots:
        if slot not in settled:
            sheet.create(slot, kind=Kind.BACKFILL, due_at=moment.now, reason=Reason.REQUESTED)
    return sheet.plan()


def _on_record(
    sheet: Sheet, ranges: Iterable[SlotRange], after: datetime, until: datetime
) -> list[datetime]:
    """Return the slots of a relative grid in a stretch of time, by their rows and ranges."""
    grid, name = sheet.schedule.definition.grid, sheet.schedule.name
    known = {row.run_at for row in sheet.rows.values() if row.occupies_slot}
    for each in ranges:
        if each.first <= until and each.last > after:
            known.update([each.first, *slots_until(grid, each.first, each.last)])
    slots = sorted(slot for slot in known if after < slot <= until)
    if not slots:
        message = f"{name} has a relative grid, and no slot on record from {after} to {until}"
        raise Refused(f"{message}; sempre show {name} lists what is on record.")
    if len(slots) > LARGEST_BACKFILL:
        raise Refused(_too_many(name, len(slots)))
    return slots


def _needs_no_backfill(row: Execution) -> bool:
    of_slot = row.kind in (Kind.SCHEDULED, Kind.BACKFILL)
    return of_slot and (row.is_live or row.state in (State.RUNNING, State.SUCCEEDED))


def _refuse_deleted(schedule: Schedule) -> None:
    if schedule.deleted:
        message = f"{schedule.name} is deleted; create it again under the same name."
        raise Refused(message)


def _refuse_too_many(schedule: Schedule, after: datetime, until: datetime) -> None:
    passed = schedule.definition.grid.passed(after, until) if after < until else None
    if passed and passed.count > LARGEST_BACKFILL:
        raise Refused(_too_many(schedule.name, passed.count))


def _too_many(name: str, count: int) -> str:
    message = f"{count:,} slots of {name} are too many for one backfill"
    return f"{message}; take stretches of at most {LARGEST_BACKFILL:,}."


def _refuse_past(schedule: Schedule, run_at: datetime, now: datetime, verb: str) -> None:
    if run_at <= max(now, schedule.cursor):
        message = f"the slot {run_at} of {schedule.name} is not in the future and cannot be {verb}."
        raise Refused(message)
