"""Reconcile: bring a schedule to its invariants, whoever asks and whatever happened before.

A schedule that should run has exactly one next row, at its first eligible slot; any other has
none. Applied to its own result it finds nothing to do.
"""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.planning.sheet import Moment, Plan, Sheet
from sempre.domain.planning.slots import due_at, first_eligible
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State
from sempre.errors import BrokenGrid

__all__ = ["drift_of", "plan_reconcile", "reconcile"]


def plan_reconcile(
    schedule: Schedule, rows: Iterable[Execution], moment: Moment, *, actor: str = ""
) -> Plan:
    """Return what makes a schedule have the next row it should have, or none.

    Rows that are due keep their snapshot and are left alone; so is everything of a past slot.
    """
    sheet = Sheet(schedule, rows, moment, actor=actor)
    reconcile(sheet)
    return sheet.plan()


def reconcile(sheet: Sheet) -> None:
    """Write what reconciles the schedule of a sheet."""
    if not sheet.schedule.wants_next_row:
        _remove_next_rows(sheet, _why_none(sheet.schedule))
        return
    try:
        _place_next_row(sheet)
    except BrokenGrid as error:
        sheet.update(broken=str(error))
        _remove_next_rows(sheet, Reason.BROKEN)


def drift_of(row: Execution, schedule: Schedule, slot: datetime | None, tzdata: str) -> str:
    """Return why a next row is no longer the right one, or an empty text.

    By newer zones the slot may lie elsewhere; only a process with zones at least as new may say
    so, or two of them would replace each other's rows for ever.
    """
    changed = row.snapshot.drift_from(schedule.snapshot())
    if changed:
        return f"{Reason.DRIFT}: {', '.join(changed)}"
    if row.run_at != slot and not _is_newer(row.tzdata, tzdata):
        return f"{Reason.DRIFT}: run_at"
    return ""


def _place_next_row(sheet: Sheet) -> None:
    rows = sheet.next_rows()
    due = [row for row in rows if row.is_due(sheet.now)]
    slot = first_eligible(sheet.schedule, sheet.taken() - {row.run_at for row in rows})
    drift = {row.id: drift_of(row, sheet.schedule, slot, sheet.tzdata) for row in rows}
    kept = due[0] if due else next((row for row in rows if not drift[row.id]), None)
    for row in rows:
        if row is not kept:
            sheet.move(row, State.SUPERSEDED, drift[row.id] or Reason.DRIFT)
    if kept is None and slot is not None:
        sheet.create(slot, due_at=due_at(sheet.schedule, slot, now=sheet.now))
    run_at = kept.run_at if kept else slot
    sheet.update(next_run_at=run_at, broken="", ended=run_at is None)


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
