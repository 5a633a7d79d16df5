"""The plain cases: a slot on time while nothing else of its schedule matters, and a first row.

Nearly every start is of this kind, and in a second that many schedules share they come by the
thousand; so do new schedules. What `plan_claim` and `plan_start` weigh step by step is here seen at
once. The plan is the same, which a test compares for schedules of every kind; a case that is not
so plain is left to the long way.
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
    """A slot that starts on time: what follows from it, whenever exactly that is.

    Attributes:
        base: the schedule as it was found.
        row: the slot's row.
        schedule: the schedule as it shall be.
        creates: the next row, if there is another slot.
    """

    base: Schedule
    row: Execution
    schedule: Schedule
    creates: tuple[Draft, ...]

    def is_right_at(self, now: datetime) -> bool:
        """Tell whether it would be found the same at an instant."""
        is_before = all(draft.due_at > now for draft in self.creates)
        return is_before and _is_on_time(self.row, self.base, now)

    def plan(self, now: datetime) -> Plan:
        """Return what has to happen at an instant."""
        row = self.row
        is_plain = len(self.creates) == 1 and self.creates[0].snapshot is row.snapshot
        return build_plan(
            base=self.base,
            schedule=self.schedule,
            changes=(_start(row, now),),
            creates=self.creates,
            ranges=(),
            decides=row.id,
            stopped_by=None,
            retracts_after=None,
            is_plain=is_plain,
        )


def find_plain_start(schedule: Schedule, row: Execution, moment: PlanningTime) -> PlainStart | None:
    """Return how a row starts at a moment, if that is plain, and its successor is born.

    Only for a row that no switch stops, of a schedule that has no other row that planning looks at.
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
    """Return the plan by which a row starts and its successor is born; None if it is not plain.

    Only for a row that no switch stops, of a schedule that has no other row that planning looks at.
    """
    found = find_plain_start(schedule, row, moment)
    return found.plan(moment.now) if found else None


def plan_plain_birth(schedule: Schedule, moment: PlanningTime, *, actor: str = "") -> Plan | None:
    """Return the plan by which a schedule gets its first next row; None if it is not plain.

    Only for a schedule that has no row yet that planning looks at.
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
    """Tell whether a row is a slot at its first try that is due, and neither held nor late."""
    if row.kind is not Kind.SCHEDULED or not row.is_untried or row.held_by:
        return False
    late = now - row.due_at
    in_time = row.due_at <= now and late <= schedule.definition.tolerance
    return in_time and row.snapshot.deadline is None


def _just_runs(schedule: Schedule) -> bool:
    """Tell whether a schedule runs, with no bound to count towards and nobody who stops it."""
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
    """Return the next row that a schedule says it has."""
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
