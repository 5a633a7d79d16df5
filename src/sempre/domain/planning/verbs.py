"""Verbs on schedules: start, edit, enable, disable, pause, resume and delete, each as one plan.

Every change first decides the slots that have passed, under the rules that were in force then, and
reconciles at the end. A verb that changes nothing gives an empty plan.
"""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.declaration_marks import unpruned
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.names import check_name, check_note
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
    "plan_rename",
    "plan_resume",
    "plan_start",
    "plan_start_general",
]

Rows = Iterable[Execution]


def plan_start(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Create the first next row. The plan is empty if the schedule has started or is disabled."""
    known = tuple(rows)
    plain = None if known else plan_plain_birth(schedule, moment, actor=actor)
    return plain or plan_start_general(schedule, known, moment, actor=actor)


def plan_start_general(
    schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = ""
) -> Plan:
    """Plan the start of a schedule without the fast path."""
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
    """Change the definition. Due rows keep their snapshot and still run, unless disabled.

    A change of grid, until, limit or enabled first decides all slots that have passed; any other
    change leaves the cursor where it is. Enabling a schedule that was created disabled starts it.

    With `decides` the operator decides on `enabled`, changed or not: a later deploy keeps it.
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
    """Enable a schedule, from its next slot on."""
    to = schedule.definition.edited(enabled=True)
    return plan_edit(schedule, rows, moment, to=to, decides=True, actor=actor)


def plan_disable(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Disable a schedule: from now on only manual runs start."""
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
    """Pause a schedule, until an instant or until it is resumed.

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
    """End a pause that is in force; slots that passed during the pause are not run."""
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if schedule.pause and schedule.pause.holds(moment.now) and not schedule.deleted:
        advance(builder, builder.now)
        builder.update(pause=None, revision=schedule.revision + 1)
        reconcile(builder)
    return builder.plan()


def plan_rename(
    schedule: Schedule, rows: Rows, moment: PlanningTime, *, to: str, actor: str = ""
) -> Plan:
    """Give a schedule another name; its history, slots and policies stay.

    A store refuses the plan if the name is taken.

    Raises:
        NamingError: the name is not valid.
        Refused: code declares the schedule, and would create it again under its old name.
    """
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if check_name("schedule", to) == schedule.name or schedule.deleted:
        return builder.plan()
    if schedule.declared:
        message = f"{schedule.name} is declared by code; rename it there, start the code"
        raise Refused(f"{message}, then run: sempre delete {schedule.name}.")
    builder.rename(to)
    builder.update(revision=schedule.revision + 1)
    reconcile(builder)
    return builder.plan()


def plan_delete(schedule: Schedule, rows: Rows, moment: PlanningTime, *, actor: str = "") -> Plan:
    """Delete a schedule. A due row still runs, from its snapshot and without a successor."""
    builder = PlanBuilder(schedule, rows, moment, actor=actor)
    if not schedule.deleted:
        _supersede_passed(builder, Reason.DELETED)
        advance(builder, builder.now)
        builder.update(deleted=True, revision=schedule.revision + 1)
        reconcile(builder)
    return builder.plan()


def _decide_enabled(builder: PlanBuilder) -> None:
    """Remove the mark by which a later deploy would enable a schedule that a deploy disabled."""
    before = builder.schedule
    after = unpruned(before.declared)
    if after != before.declared:
        builder.update(declared=after, revision=before.revision + 1)


def _moves_cursor(before: Definition, after: Definition) -> bool:
    names = ("grid", "until", "limit", "enabled")
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _supersede_passed(builder: PlanBuilder, reason: Reason) -> None:
    """Supersede a next row whose slot has passed and that is not due yet, because of jitter.

    Its slot is then recorded as passed. Reconciliation replaces a next row in the future.
    """
    for row in builder.next_rows():
        if row.run_at <= builder.now and not row.is_due(builder.now):
            builder.move(row, State.SUPERSEDED, reason)


def _stop_rows(builder: PlanBuilder, reason: Reason) -> None:
    """End the waiting rows of a schedule, except manual rows: they ignore pause and disable.

    Reconciliation removes a next row in the future. A next row whose slot has passed and that is
    not due yet is superseded, so that its slot is recorded as passed. A row at or before the cursor
    is itself the record of its slot, and becomes skipped.
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
