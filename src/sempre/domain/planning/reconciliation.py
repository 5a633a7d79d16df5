"""Reconciliation restores the invariants of a schedule, whatever happened before.

A schedule that should run has exactly one next row, at its first eligible slot. Every other
schedule has none, except that a schedule with a broken grid keeps its row. Reconciling twice gives
an empty second plan.
"""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.clock_jump import rewind_cursor
from sempre.domain.planning.plan import Change, Plan, PlanBuilder, PlanningTime
from sempre.domain.planning.slots import GRID_ERRORS, due_at, first_eligible
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.domain.values import copy_with

__all__ = ["plan_reconcile", "reconcile"]


def plan_reconcile(
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    actor: str = "",
    passed: Iterable[SlotRange] | None = None,
) -> Plan:
    """Return the plan that gives a schedule the next row that it should have, or none.

    Due rows keep their snapshot, and past slots stay as decided. A schedule whose cursor lies in
    the future is moved back to now, if `passed` has the recorded ranges that end after now.
    """
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if passed is not None and schedule.is_ahead(moment.now):
        try:
            rewind_cursor(builder, passed)
        except GRID_ERRORS as error:
            builder.update(broken=str(error))
    # After a move back every row is placed again; a process with newer zones may correct it.
    reconcile(builder, heeds_stamps=builder.schedule.cursor == schedule.cursor)
    return builder.plan()


def reconcile(builder: PlanBuilder, *, heeds_stamps: bool = False) -> None:
    """Add to a plan what reconciles its schedule.

    With `heeds_stamps`, a row that was placed by newer time zones stays at its slot.
    """
    if not builder.schedule.wants_next_row:
        _remove_next_rows(builder, _why_none(builder.schedule))
        return
    try:
        _place_next_row(builder, heeds_stamps=heeds_stamps)
    except GRID_ERRORS as error:
        builder.update(broken=str(error))
        _keep_rows(builder)


def _drift_of(row: Execution, schedule: Schedule, slot: datetime | None) -> str:
    """Return why a next row has to be replaced, or an empty text."""
    differing = row.snapshot.drift_from(schedule.snapshot())
    if not differing and row.run_at != slot:
        differing = ("run_at",)
    return f"{Reason.DRIFT}: {', '.join(differing)}" if differing else ""


def _place_next_row(builder: PlanBuilder, *, heeds_stamps: bool) -> None:
    rows = builder.next_rows()
    due = [row for row in rows if row.is_due(builder.now)]
    slot = first_eligible(builder.schedule, builder.taken() - {row.run_at for row in rows})
    drift = {}
    for row in rows:
        # Newer zones may place the slot elsewhere. Only a process with zones at least as new may
        # replace the row: two processes would otherwise replace each other's rows for ever.
        trusted = heeds_stamps and _is_newer(row.tzdata, builder.tzdata)
        drift[row.id] = _drift_of(row, builder.schedule, row.run_at if trusted else slot)
    kept = due[0] if due else next((row for row in rows if not drift[row.id]), None)
    for row in rows:
        if row is not kept:
            builder.move(row, State.SUPERSEDED, drift[row.id] or Reason.DRIFT)
    if kept is not None and heeds_stamps and _is_newer(builder.tzdata, kept.tzdata):
        # Newer zones place the row at the same slot: no process has to check that again.
        builder.note(Change(kept, copy_with(kept, tzdata=builder.tzdata)))
    if kept is None and slot is not None:
        builder.create(slot, due_at=due_at(builder.schedule, slot, now=builder.now))
    run_at = kept.run_at if kept else slot
    builder.update(next_run_at=run_at, broken="", ended=run_at is None)


def _keep_rows(builder: PlanBuilder) -> None:
    """Keep the next row of a schedule whose grid is broken: its slot was right once.

    Other edited fields are applied to the row, at the same slot.
    """
    rows = builder.next_rows()
    for row in rows:
        differing = row.snapshot.drift_from(builder.schedule.snapshot())
        if differing and "grid" not in differing and not row.is_due(builder.now):
            builder.move(row, State.SUPERSEDED, f"{Reason.DRIFT}: {', '.join(differing)}")
            builder.create(row.run_at, due_at=row.due_at)
    builder.update(next_run_at=rows[0].run_at if rows else None, ended=False)


def _remove_next_rows(builder: PlanBuilder, reason: Reason) -> None:
    for row in builder.next_rows():
        due = row.is_due(builder.now)
        builder.move(row, State.SKIPPED if due else State.SUPERSEDED, reason)
    builder.update(next_run_at=None, ended=builder.schedule.has_reached_limit)


def _why_none(schedule: Schedule) -> Reason:
    if schedule.deleted:
        return Reason.DELETED
    if not schedule.definition.enabled:
        return Reason.DISABLED
    return Reason.LIMIT if schedule.has_reached_limit else Reason.PAUSED


def _is_newer(one: str, other: str) -> bool:
    return sortable_tzdata(one) > sortable_tzdata(other)
