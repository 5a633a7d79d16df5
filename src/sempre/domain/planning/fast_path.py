"""The fast path: plans of a slot that starts on time, and of the first row of a schedule.

Nearly every start is of this kind, and thousands may share one second; so may new schedules. The
plans equal those of `plan_claim_general` and `plan_start_general`, which a property test compares
for schedules of every kind. Every other case is left to the general functions.
"""

from datetime import datetime
from typing import NamedTuple

from sempre.domain.execution import Draft, Execution, build_draft
from sempre.domain.planning.plan import Change, Plan, PlanningTime, build_plan
from sempre.domain.planning.slots import GRID_ERRORS, due_at
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids.grid import following

__all__ = ["PlainStart", "find_plain_start", "plan_plain_birth", "plan_plain_start"]


class PlainStart(NamedTuple):
    """The start of a slot on time: its plan, whatever the exact instant of the start.

    Attributes:
        base: the schedule as it was read.
        row: the row of the slot.
        schedule: the schedule after the start.
        creates: the next row, if the grid has another slot.
    """

    base: Schedule
    row: Execution
    schedule: Schedule
    creates: tuple[Draft, ...]

    def is_right_at(self, now: datetime) -> bool:
        """Whether a plan made at this instant would be equal."""
        is_before = all(draft.due_at > now for draft in self.creates)
        return is_before and _is_on_time(self.row, self.base, now)

    def plan(self, now: datetime) -> Plan:
        """Return the plan of the start at an instant."""
        row = self.row
        return build_plan(
            base=self.base,
            schedule=self.schedule,
            changes=(_start(row, now),),
            creates=self.creates,
            ranges=(),
            decides=row.id,
            stopped_by=None,
            retracts_after=None,
        )


def find_plain_start(schedule: Schedule, row: Execution, moment: PlanningTime) -> PlainStart | None:
    """Return the plain start of a row and of its successor; None if the general plan is needed.

    Only for a row that no switch stops, of a schedule without another row that planning reads.
    """
    runs = schedule.started and _just_runs(schedule)
    if not runs or not _is_on_time(row, schedule, moment.now):
        return None
    try:
        if following(schedule.definition.grid, schedule.cursor) != row.run_at:
            return None
        slot = _slot_after(row.run_at, schedule)
        after = copy_with(
            schedule,
            cursor=row.run_at,
            starts=schedule.starts + 1,
            next_run_at=slot,
            broken="",
            ended=slot is None,
        )
        creates = _next_row(after, moment, known=row.snapshot)
    except GRID_ERRORS:
        return None
    return PlainStart(schedule, row, after, creates)


def plan_plain_start(schedule: Schedule, row: Execution, moment: PlanningTime) -> Plan | None:
    """Return the plan that starts a row and creates its successor; None if not a plain start.

    Only for a row that no switch stops, of a schedule without another row that planning reads.
    """
    found = find_plain_start(schedule, row, moment)
    return found.plan(moment.now) if found else None


def plan_plain_birth(schedule: Schedule, moment: PlanningTime, *, actor: str = "") -> Plan | None:
    """Return the plan that creates the first next row; None if the general plan is needed.

    Only for a schedule without a row that planning reads.
    """
    if schedule.started or not _just_runs(schedule):
        return None
    try:
        slot = _slot_after(schedule.cursor, schedule)
        after = copy_with(
            schedule,
            started=True,
            revision=schedule.revision + 1,
            next_run_at=slot,
            broken="",
            ended=slot is None,
        )
        return Plan(schedule, after, (), _next_row(after, moment, actor=actor))
    except GRID_ERRORS:
        return None


def _is_on_time(row: Execution, schedule: Schedule, now: datetime) -> bool:
    """Whether a row is a slot at its first try that is due, not held and not late."""
    if row.kind is not Kind.SCHEDULED or not row.is_untried or row.held_by:
        return False
    late = now - row.due_at
    in_time = row.due_at <= now and late <= schedule.definition.tolerance
    return in_time and row.snapshot.deadline is None


def _just_runs(schedule: Schedule) -> bool:
    """Whether a schedule is enabled, not paused, not deleted and without a limit of starts."""
    declared = schedule.definition
    is_bound = schedule.pause is not None or declared.limit is not None
    return declared.enabled and not schedule.deleted and not is_bound


def _slot_after(run_at: datetime, schedule: Schedule) -> datetime | None:
    declared = schedule.definition
    slot = following(declared.grid, run_at)
    return None if slot and declared.until and slot > declared.until else slot


def _next_row(
    schedule: Schedule, moment: PlanningTime, *, known: Snapshot | None = None, actor: str = ""
) -> tuple[Draft, ...]:
    """Return the row of the next slot of a schedule, if there is one."""
    slot = schedule.next_run_at
    if slot is None:
        return ()
    draft = build_draft(
        kind=Kind.SCHEDULED,
        run_at=slot,
        due_at=due_at(schedule, slot, now=moment.now),
        snapshot=schedule.snapshot(known=known),
        schedule_id=schedule.id,
        state=State.PENDING,
        reason="",
        actor=actor,
        tzdata=moment.tzdata,
    )
    return (draft,)


def _start(row: Execution, now: datetime) -> Change:
    attempt = row.attempt + 1
    begun = row.to(State.RUNNING, reason="", attempt=attempt, first_started_at=now, started_at=now)
    return Change(row, begun)
