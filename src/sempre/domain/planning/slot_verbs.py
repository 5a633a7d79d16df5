"""Verbs on slots: skip, unskip, trigger and backfill, each as one plan."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.plan import TICK, Plan, PlanBuilder, PlanningTime
from sempre.domain.planning.reconciliation import reconcile
from sempre.domain.planning.steps import first_slot_from, slots_until
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.errors import Refused
from sempre.errors.wording import written_instant
from sempre.grids.instants import as_instant

__all__ = ["plan_backfill", "plan_skip", "plan_trigger", "plan_unskip", "slots_before_retention"]

Rows = Iterable[Execution]
LARGEST_BACKFILL = 10_000


def plan_skip(
    schedule: Schedule, rows: Rows, moment: PlanningTime, *, run_at: datetime, actor: str = ""
) -> Plan:
    """Skip one future slot. The cursor stays; a next row at that slot moves to the slot after.

    Raises:
        Refused: the instant is past, decided, or not a slot of the schedule.
    """
    run_at = as_instant("run_at", run_at)
    _refuse_deleted(schedule)
    _refuse_past(schedule, run_at, moment.now, "skipped")
    found = first_slot_from(schedule.definition.grid, schedule.cursor, run_at)
    if found != run_at:
        after = written_instant(found) if found else "none"
        slot = f"{written_instant(run_at)} is not a slot of {schedule.name}"
        raise Refused(f"{slot}; the next one after it is {after}.")
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    there = [row for row in builder.rows.values() if row.occupies_slot and row.run_at == run_at]
    if any(row.state is State.SKIPPED for row in there):
        return builder.plan()
    if any(not row.is_live for row in there):
        slot = f"the slot {written_instant(run_at)} of {schedule.name}"
        raise Refused(f"{slot} is already decided.")
    for row in there:
        builder.move(row, State.SUPERSEDED, Reason.REQUESTED)
    builder.create(run_at, state=State.SKIPPED, reason=Reason.REQUESTED)
    builder.update(revision=schedule.revision + 1)
    reconcile(builder)
    return builder.plan()


def plan_unskip(
    schedule: Schedule, rows: Rows, moment: PlanningTime, *, run_at: datetime, actor: str = ""
) -> Plan:
    """Take back the skip of a future slot. The plan is empty if the slot is not skipped.

    Raises:
        Refused: the instant is past; decisions on past slots stay.
    """
    run_at = as_instant("run_at", run_at)
    _refuse_past(schedule, run_at, moment.now, "put back")
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    for row in list(builder.rows.values()):
        if row.occupies_slot and row.run_at == run_at and row.state is State.SKIPPED:
            builder.move(row, State.SUPERSEDED, Reason.REQUESTED)
            builder.update(revision=schedule.revision + 1)
            reconcile(builder)
    return builder.plan()


def plan_trigger(schedule: Schedule, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Create a manual run now, besides the slots; also if the schedule is disabled or paused."""
    _refuse_deleted(schedule)
    builder = PlanBuilder(schedule, (), moment, actor=actor)
    builder.create(moment.now, kind=Kind.MANUAL, reason=Reason.REQUESTED)
    return builder.plan()


def plan_backfill(
    schedule: Schedule,
    rows: Rows,
    moment: PlanningTime,
    *,
    start: datetime,
    end: datetime,
    ranges: Iterable[SlotRange] = (),
    retention: timedelta = timedelta(days=30),
    assume_not_run: bool = False,
    actor: str = "",
) -> Plan:
    """Run past slots that did not succeed, from `start` to `end`, both inclusive.

    Slots that succeeded, wait or run are left out. The records of slots before retention, the
    schedule's own or else the given one, may be purged: those slots are run only with
    `assume_not_run`. The slots of a relative grid are known
    by their records only: by a row, or by one of the given ranges.

    Raises:
        Refused: the schedule is disabled, paused or deleted; or the period is empty, has more slots
            than one backfill may create, or slots before retention; or a relative grid has no slot
            on record in the period.
    """
    _refuse_deleted(schedule)
    if not schedule.allows_start(moment.now):
        message = f"{schedule.name} is disabled or paused; enable or resume it before a backfill."
        raise Refused(message)
    start, end = as_instant("start", start), as_instant("end", end)
    if end < start:
        stretch = f"from {written_instant(start)} to {written_instant(end)}"
        raise Refused(f"a backfill {stretch} is empty; the end comes after the start.")
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    settled = {row.run_at for row in builder.rows.values() if _needs_no_backfill(row)}
    newest, oldest = min(end, schedule.cursor), start - TICK
    if not assume_not_run:
        asked = {"start": start, "end": end}
        count = slots_before_retention(schedule, moment, retention=retention, **asked)
        limit = moment.now - schedule.definition.kept_for(retention)
        _refuse_unrecorded(schedule, count, limit)
        oldest = max(start, limit) - TICK
    if schedule.definition.grid.relative:
        slots = _on_record(builder, ranges, oldest, newest)
    else:
        _refuse_too_many(schedule, oldest, newest)
        slots = schedule.definition.grid.between(oldest, newest)
    for slot in slots:
        if slot not in settled:
            builder.create(slot, kind=Kind.BACKFILL, due_at=moment.now, reason=Reason.REQUESTED)
    return builder.plan()


def slots_before_retention(
    schedule: Schedule,
    moment: PlanningTime,
    *,
    start: datetime,
    end: datetime,
    retention: timedelta,
) -> int:
    """Return how many decided slots from `start` to `end` lie before retention.

    A retention of the schedule's own replaces the given one.

    Their records may be purged, so that it is unknown whether they ran. The number is 0 for a
    relative grid: its slots are known by their records only.
    """
    grid = schedule.definition.grid
    limit = moment.now - schedule.definition.kept_for(retention) - TICK
    after, until = start - TICK, min(end, schedule.cursor, limit)
    if grid.relative or until <= after:
        return 0
    passed = grid.passed(after, until)
    return passed.count if passed else 0


def _refuse_unrecorded(schedule: Schedule, count: int, limit: datetime) -> None:
    if count:
        early = f"{count:,} of the slots of {schedule.name} lie before {written_instant(limit)}"
        why = "executions are kept since then, so whether they ran is unknown"
        raise Refused(f"{early}: {why}. Pass assume_not_run=True, or start later.")


def _on_record(
    builder: PlanBuilder, ranges: Iterable[SlotRange], after: datetime, until: datetime
) -> list[datetime]:
    """Return the slots of a relative grid in a period, as recorded in rows and ranges."""
    grid, name = builder.schedule.definition.grid, builder.schedule.name
    known = {row.run_at for row in builder.rows.values() if row.occupies_slot}
    for each in ranges:
        if each.first <= until and each.last > after:
            known.update([each.first, *slots_until(grid, each.first, each.last)])
    slots = sorted(slot for slot in known if after < slot <= until)
    if not slots:
        stretch = f"from {written_instant(after)} to {written_instant(until)}"
        message = f"{name} has a relative grid, and no slot on record {stretch}"
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
        slot = f"the slot {written_instant(run_at)} of {schedule.name}"
        raise Refused(f"{slot} is not in the future and cannot be {verb}.")
