"""Reconcile: bring a schedule to its invariants, whoever asks and whatever happened before.

A schedule that should run has exactly one next row, at its first eligible slot; any other has
none, but one whose grid is broken keeps the row it has. Applied to its own result it finds nothing
to do.
"""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.returning import come_back
from sempre.domain.planning.sheet import Change, Moment, Plan, Sheet
from sempre.domain.planning.slots import GRID_ERRORS, due_at, first_eligible
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State
from sempre.domain.values import copy_with

__all__ = ["drift_of", "plan_reconcile", "reconcile"]


def plan_reconcile(
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: Moment,
    *,
    actor: str = "",
    passed: Iterable[SlotRange] | None = None,
) -> Plan:
    """Return what makes a schedule have the next row it should have, or none.

    Rows that are due keep their snapshot and are left alone; so is everything of a past slot.
    A schedule that is ahead of now comes back, if it is given what is recorded of slots that
    passed without a row, as far as it ends after now.
    """
    sheet = Sheet(schedule, rows, moment, actor=actor)
    if passed is not None and schedule.is_ahead(moment.now):
        try:
            come_back(sheet, passed)
        except GRID_ERRORS as error:
            sheet.update(broken=str(error))
    # What comes back is placed anew, whoever placed it before; newer zones may still correct it.
    reconcile(sheet, heeds_stamps=sheet.schedule.cursor == schedule.cursor)
    return sheet.plan()


def reconcile(sheet: Sheet, *, heeds_stamps: bool = False) -> None:
    """Write what reconciles the schedule of a sheet.

    Where nothing was asked for, a row that was placed by newer zones is left where it is.
    """
    if not sheet.schedule.wants_next_row:
        _remove_next_rows(sheet, _why_none(sheet.schedule))
        return
    try:
        _place_next_row(sheet, heeds_stamps=heeds_stamps)
    except GRID_ERRORS as error:
        sheet.update(broken=str(error))
        _keep_rows(sheet)


def drift_of(row: Execution, schedule: Schedule, slot: datetime | None) -> str:
    """Return why a next row is no longer the right one, or an empty text."""
    differing = row.snapshot.drift_from(schedule.snapshot())
    if not differing and row.run_at != slot:
        differing = ("run_at",)
    return f"{Reason.DRIFT}: {', '.join(differing)}" if differing else ""


def _place_next_row(sheet: Sheet, *, heeds_stamps: bool) -> None:
    rows = sheet.next_rows()
    due = [row for row in rows if row.is_due(sheet.now)]
    slot = first_eligible(sheet.schedule, sheet.taken() - {row.run_at for row in rows})
    drift = {}
    for row in rows:
        # By newer zones the slot may lie elsewhere. Only a process with zones at least as new
        # may say so, or two of them would replace each other's rows for ever.
        trusted = heeds_stamps and _is_newer(row.tzdata, sheet.tzdata)
        drift[row.id] = drift_of(row, sheet.schedule, row.run_at if trusted else slot)
    kept = due[0] if due else next((row for row in rows if not drift[row.id]), None)
    for row in rows:
        if row is not kept:
            sheet.move(row, State.SUPERSEDED, drift[row.id] or Reason.DRIFT)
    if kept is not None and heeds_stamps and _is_newer(sheet.tzdata, kept.tzdata):
        # It lies where newer zones have it too: nobody has to look at it for that again.
        sheet.note(Change(kept, copy_with(kept, tzdata=sheet.tzdata)))
    if kept is None and slot is not None:
        sheet.create(slot, due_at=due_at(sheet.schedule, slot, now=sheet.now))
    run_at = kept.run_at if kept else slot
    sheet.update(next_run_at=run_at, broken="", ended=run_at is None)


def _keep_rows(sheet: Sheet) -> None:
    """Leave the next row of a schedule whose grid gives no answer: its slot was right once.

    What else was edited since is applied to the row, at the same slot.
    """
    rows = sheet.next_rows()
    for row in rows:
        differing = row.snapshot.drift_from(sheet.schedule.snapshot())
        if differing and "grid" not in differing and not row.is_due(sheet.now):
            sheet.move(row, State.SUPERSEDED, f"{Reason.DRIFT}: {', '.join(differing)}")
            sheet.create(row.run_at, due_at=row.due_at)
    sheet.update(next_run_at=rows[0].run_at if rows else None, ended=False)


def _remove_next_rows(sheet: Sheet, reason: Reason) -> None:
    for row in sheet.next_rows():
        due = row.is_due(sheet.now)
        sheet.move(row, State.SKIPPED if due else State.SUPERSEDED, reason)
    sheet.update(next_run_at=None, ended=sheet.schedule.has_reached_limit)


def _why_none(schedule: Schedule) -> Reason:
    if schedule.deleted:
        return Reason.DELETED
    if not schedule.definition.enabled:
        return Reason.DISABLED
    return Reason.LIMIT if schedule.has_reached_limit else Reason.PAUSED


def _is_newer(one: str, other: str) -> bool:
    return _version(one) > _version(other)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
