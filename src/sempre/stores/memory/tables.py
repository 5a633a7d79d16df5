"""The tables of the memory store, and the guards that every write passes.

The guards do the work of a database's constraints: which rows may exist together, and whether the
rows that a plan was made from are unchanged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import (
    Attempt,
    Candidate,
    Order,
    Pass,
    Report,
    Rollup,
    Session,
    Switch,
    UniqueKey,
    View,
)
from sempre.ports.run_logs import RunLog
from sempre.stores.guard import Position, Progress, Slot

__all__ = ["Tables"]


@dataclass
class Tables:
    """Rows by id, with the indexes that the operations need."""

    schedules: dict[str, Schedule] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    unended: dict[str, Execution] = field(default_factory=dict)
    of_schedule: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ranges: list[SlotRange] = field(default_factory=list)
    attempts: dict[str, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    orphans: list[Attempt] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    switches: dict[str, Switch] = field(default_factory=dict)
    rollups: dict[tuple[str, str, State, Kind | None], Rollup] = field(default_factory=dict)
    rejections: Counter[str] = field(default_factory=Counter)
    unique: dict[str, str] = field(default_factory=dict)
    streaks: dict[str, int] = field(default_factory=dict)
    unique_of: dict[str, UniqueKey] = field(default_factory=dict)
    keyed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cancelled: dict[str, int] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    run_logs: dict[str, dict[int, RunLog]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    limit_starts: dict[str, list[datetime]] = field(default_factory=dict)
    limit_periods: dict[str, timedelta] = field(default_factory=dict)
    fence: int = 0
    maintenance: Pass | None = None

    def named(self, name: str) -> Schedule | None:
        """Return the schedule of a name, unless it is deleted."""
        found = (each for each in self.schedules.values() if each.name == name)
        return next((schedule for schedule in found if not schedule.deleted), None)

    def rows_of(self, schedule_id: str) -> Iterator[Execution]:
        """Yield every execution of a schedule."""
        return (self.executions[each] for each in self.of_schedule.get(schedule_id, ()))

    def view(self, schedule: Schedule) -> View:
        """Return a schedule with the rows that planning needs."""
        rows = list(self.rows_of(schedule.id))
        earliest = min((row.due_at for row in rows if row.is_live), default=None)
        wanted = (row for row in rows if _matters(row, schedule.cursor, earliest))
        return View(schedule, tuple(sorted(map(self.leased, wanted), key=lambda row: row.id)))

    def candidate(self, row: Execution) -> Candidate:
        """Return an execution with its schedule's view, if it has a schedule."""
        schedule = self.schedules.get(row.schedule_id or "")
        return Candidate(self.leased(row), self.view(schedule) if schedule else None)

    def leased(self, row: Execution) -> Execution:
        """Return a running execution with the lease of its session."""
        if row.state is not State.RUNNING:
            return row
        session = self.sessions.get(row.session)
        until = session.leased_until if session else row.started_at
        return copy_with(row, leased_until=until)

    def put(self, row: Execution) -> None:
        """Write one execution."""
        self.executions[row.id] = row
        if row.is_active:
            self.unended[row.id] = row
        else:
            self.unended.pop(row.id, None)
        if row.schedule_id is not None:
            self.of_schedule[row.schedule_id].add(row.id)

    def position_of(self, schedule_id: str) -> Position | None:
        """Return the position of a schedule, by which guards detect other writes."""
        schedule = self.schedules.get(schedule_id)
        return Position.of(schedule) if schedule else None

    def progress_of(self, execution_id: str) -> Progress | None:
        """Return the progress of an execution, by which guards detect other writes."""
        row = self.executions.get(execution_id)
        return Progress.of(row) if row else None

    def named_id(self, name: str) -> str | None:
        """Return the id of the schedule of a name, unless it is deleted."""
        schedule = self.named(name)
        return schedule.id if schedule else None

    def holders_of(self, slot: Slot) -> list[str]:
        """Return the ids of rows that hold a slot."""
        schedule_id, run_at, kind = slot
        rows = (row for row in self.rows_of(schedule_id) if row.run_at == run_at)
        return [row.id for row in rows if row.kind is kind and row.holds_slot]

    def write(self, order: Order, now: datetime) -> None:
        """Carry out an order that fits."""
        plan = order.plan
        for change in plan.changes:
            self.put(change.after)
        for identity, draft in zip(order.ids, plan.creates, strict=True):
            self.put(draft.born(identity, now))
        if plan.retracts_after is not None and plan.base is not None:
            self._retract(plan.base.id, plan.retracts_after)
        self.ranges.extend(plan.ranges)
        if plan.schedule is not None and plan.schedule != plan.base:
            self.schedules[plan.schedule.id] = plan.schedule

    def _retract(self, schedule_id: str, after: datetime) -> None:
        """Delete ranges of slots that end after an instant."""
        own = [each for each in self.ranges if each.schedule_id == schedule_id]
        gone = {id(each) for each in own if each.last > after}
        self.ranges[:] = [each for each in self.ranges if id(each) not in gone]


def _matters(row: Execution, cursor: datetime, earliest: datetime | None) -> bool:
    if row.is_active:
        return True
    if row.occupies_slot and row.run_at > cursor:
        return True
    return earliest is not None and row.finished_at is not None and row.finished_at > earliest
