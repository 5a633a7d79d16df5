"""Verbs: what an operator or a deploy does to a schedule, each as one plan.

Every real change first decides the slots that have passed, under what was in force then, and
reconciles at the end. Repeating the state in force does nothing.
"""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.declaration_marks import unpruned
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.names import check_note
from sempre.domain.planning.fast_path import plan_plain_birth
from sempre.domain.planning.plan import Plan, PlanBuilder, PlanningTime
from sempre.domain.planning.reconciliation import reconcile
from sempre.domain.planning.slots import advance
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.errors import Refused
from sempre.grids.instants import as_instant

__all__ = [
    "plan_delete",
    "plan_disable",
    "plan_edit",
    "plan_enable",
    "plan_pause",
    "plan_resume",
    "plan_start",
    "plan_start_general",
]

Rows = Iterable[Execution]


def plan_start(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Give a schedule its first next row. Nothing if it has started, or is disabled."""
    known = tuple(rows)
    plain = None if known else plan_plain_birth(schedule, moment, actor=actor)
    return plain or plan_start_general(schedule, known, moment, actor=actor)


def plan_start_general(
    schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = ""
) -> Plan:
    """Do as `plan_start`, whatever the case."""
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if not schedule.started and schedule.definition.enabled and not schedule.deleted:
        builder.update(started=True, revision=schedule.revision + 1)
        reconcile(builder)
    return builder.plan()


def plan_edit(
    schedule: Schedule,
    rows: Rows,
    moment: PlanningTime,
    *,
    to: Definition,
    decides: bool = False,
    actor: str = "",
) -> Plan:
    """Change what is declared. Due rows keep their snapshot and still run, unless disabled.

    A change of grid, end or enabled first decides all that has passed; any other leaves the
    cursor where it is. Enabling a schedule that was created disabled starts the schedule.

    An edit that `decides` states `enabled`, changed or not: a later deploy then leaves it alone.
    """
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    same = to.is_same_as(schedule.definition)
    if decides and not schedule.deleted:
        _decide_enabled(builder)
    if same or schedule.deleted:
        return builder.plan()
    if _moves_cursor(schedule.definition, to):
        if schedule.definition.enabled and not to.enabled:
            _stop_rows(builder, Reason.DISABLED)
        else:
            _supersede_passed(builder, Reason.EDITED)
        regridded = schedule.definition.enabled == to.enabled
        advance(builder, builder.now, Reason.EDITED if regridded else Reason.MISSED)
        if to.grid != schedule.definition.grid:
            # A relative grid counts from now, not from the last slot of the grid before it.
            builder.update(cursor=max(builder.schedule.cursor, builder.now))
    enabling = to.enabled and not schedule.definition.enabled
    builder.update(definition=to, revision=schedule.revision + 1, broken="")
    builder.update(started=schedule.started or enabling)
    reconcile(builder)
    return builder.plan()


def plan_enable(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Let a disabled schedule run again, from its next slot on."""
    to = schedule.definition.edited(enabled=True)
    return plan_edit(schedule, rows, moment, to=to, decides=True, actor=actor)


def plan_disable(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Stop a schedule: nothing of it starts any more but what is triggered by hand."""
    to = schedule.definition.edited(enabled=False)
    return plan_edit(schedule, rows, moment, to=to, decides=True, actor=actor)


def plan_pause(
    schedule: Schedule,
    rows: Rows,
    moment: PlanningTime,
    *,
    until: datetime | None = None,
    note: str = "",
    actor: str = "",
) -> Plan:
    """Stop a schedule for an operator, until an instant or until it is resumed.

    Raises:
        Refused: the instant is not in the future.
    """
    until = None if until is None else as_instant("until", until)
    if until is not None and until <= moment.now:
        message = f"{schedule.name} cannot be paused until {until}: that is not in the future."
        raise Refused(message)
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    pause = Pause(until=until, note=check_note("note", note), actor=actor)
    if schedule.pause == pause or schedule.deleted:
        return builder.plan()
    _stop_rows(builder, Reason.PAUSED)
    for row in builder.next_rows():
        if until is None or row.run_at < until:
            builder.move(row, State.SUPERSEDED, Reason.PAUSED)
    advance(builder, builder.now)
    builder.update(pause=pause, revision=schedule.revision + 1)
    reconcile(builder)
    return builder.plan()


def plan_resume(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """End a pause that is in force; paused slots are not made up for."""
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if schedule.pause and schedule.pause.holds(moment.now) and not schedule.deleted:
        advance(builder, builder.now)
        builder.update(pause=None, revision=schedule.revision + 1)
        reconcile(builder)
    return builder.plan()


def plan_delete(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Take a schedule away. What is due still runs, from its snapshot and without a successor."""
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if not schedule.deleted:
        _supersede_passed(builder, Reason.DELETED)
        advance(builder, builder.now)
        builder.update(deleted=True, revision=schedule.revision + 1)
        reconcile(builder)
    return builder.plan()


def _decide_enabled(builder: PlanBuilder) -> None:
    """Take the mark away by which a later deploy would enable what an earlier one disabled."""
    before = builder.schedule
    after = unpruned(before.declared)
    if after != before.declared:
        builder.update(declared=after, revision=before.revision + 1)


def _moves_cursor(before: Definition, after: Definition) -> bool:
    names = ("grid", "until", "limit", "enabled")
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _supersede_passed(builder: PlanBuilder, reason: Reason) -> None:
    """Take back a next row whose slot has passed before it was due, as jitter makes it.

    Its slot is then recorded as passed. One in the future is left to reconcile.
    """
    for row in builder.next_rows():
        if row.run_at <= builder.now and not row.is_due(builder.now):
            builder.move(row, State.SUPERSEDED, reason)


def _stop_rows(builder: PlanBuilder, reason: Reason) -> None:
    """End whatever of a schedule waits, but for manual rows: those ignore pause and disable.

    A next row in the future is left to reconcile. One whose slot has passed before it was due is
    superseded, so that the slot is recorded as passed; one at or before the cursor is what its
    slot is recorded by, and stays as skipped.
    """
    for row in list(builder.rows.values()):
        if not row.is_live or row.kind is Kind.MANUAL:
            continue
        if not (row.is_untried and row.kind is Kind.SCHEDULED):
            builder.move(row, State.CANCELLED, reason)
        elif row.is_due(builder.now) or row.run_at <= builder.schedule.cursor:
            builder.move(row, State.SKIPPED, reason)
        elif row.run_at <= builder.now:
            builder.move(row, State.SUPERSEDED, reason)
