"""Plans: what should be done, as data; and the builder on which one is written.

A plan is applied by a store in one atomic operation, guarded by what it was made from. Nothing
here looks at a clock or a store, so the same question always gets the same plan.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict, Unpack

from sempre.domain.definition import Definition
from sempre.domain.execution import Draft, Execution, SlotRange
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import Kind, State
from sempre.domain.switch import Switch
from sempre.domain.values import builder, copy_with

__all__ = ["TICK", "Change", "Plan", "PlanBuilder", "PlanningTime", "ScheduleChanges", "build_plan"]

TICK = timedelta(microseconds=1)


class PlanningTime(NamedTuple):
    """When a plan is made: the store's now, and the version of the zones it is made with."""

    now: datetime
    tzdata: str = ""


@dataclass(frozen=True)
class Change:
    """One execution before and after; the store compares state and attempt before it sets."""

    before: Execution
    after: Execution

    @property
    def loss(self) -> str:
        """Why an attempt was lost, if it was not its own worker that ended it; else empty."""
        before = self.before
        if before.state is not State.RUNNING:
            return ""
        if self.after.crashes > before.crashes:
            return f"lease lost: session {before.session} held it until {before.leased_until}"
        return self.after.reason

    @property
    def is_rescue(self) -> bool:
        """Whether an attempt is taken from a worker that shows no life any more."""
        before = self.before
        return before.state is State.RUNNING and self.after.crashes > before.crashes


@dataclass(frozen=True)
class Plan:
    """Everything that has to happen together, or not at all.

    Attributes:
        base: the schedule the plan was made from, or None if it does not matter. The plan is
            refused if its revision has changed since, or, where the schedule is to change, its
            starts or cursor.
        schedule: the schedule as it shall be.
        changes: executions that change their state.
        creates: executions that come into being.
        ranges: slots that passed without an execution.
        retracts_after: what is recorded of slots that passed without an execution is forgotten
            where it reaches beyond this instant; what remains of it is among the ranges.
        decides: the execution about whose start the plan decides, one way or the other.
        stopped_by: the switch that was off for it. The plan is refused if by now it is another
            one, or none.
        is_plain: whether all it does is to start a slot at its first try, to move the schedule on
            to it, and to create the next row, which runs the very same snapshot. A store may do
            many of these at once.
    """

    base: Schedule | None = None
    schedule: Schedule | None = None
    changes: tuple[Change, ...] = ()
    creates: tuple[Draft, ...] = ()
    ranges: tuple[SlotRange, ...] = ()
    decides: str = ""
    stopped_by: Switch | None = None
    retracts_after: datetime | None = None
    is_plain: bool = field(default=False, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether everything is already as it should be."""
        same = self.base == self.schedule and self.retracts_after is None
        return same and not (self.changes or self.creates or self.ranges)

    @property
    def has_start(self) -> bool:
        """Whether it starts an execution, which needs a session and a fence: only a claim does."""
        return any(change.after.state is State.RUNNING for change in self.changes)

    def is_overtaken(self, now: datetime) -> bool:
        """Whether it brings a cursor back from the future, and that is no longer the future.

        The store's clock may have been set forth since the plan was made. A store refuses the plan
        then: a cursor that lies in the past never goes back.
        """
        if self.base is None or self.retracts_after is None:
            return False
        return self.base.cursor <= now


build_plan = builder(Plan)


class ScheduleChanges(TypedDict, total=False):
    """Fields of a schedule that a plan may set."""

    definition: Definition
    cursor: datetime
    revision: int
    starts: int
    started: bool
    pause: Pause | None
    broken: str
    ended: bool
    deleted: bool
    next_run_at: datetime | None
    declared: str


class PlanBuilder:
    """A plan being written: the schedule and its rows, as they will be so far."""

    def __init__(
        self,
        schedule: Schedule,
        rows: Iterable[Execution],
        moment: PlanningTime,
        *,
        actor: str = "",
    ) -> None:
        """Begin with things as they are."""
        self.base = schedule
        self.schedule = schedule
        self.now = moment.now
        self.tzdata = moment.tzdata
        self.actor = actor
        self.rows = {row.id: row for row in rows}
        self._before: dict[str, Execution] = {}
        self._creates: list[Draft] = []
        self._ranges: list[SlotRange] = []
        self._retracts_after: datetime | None = None

    def update(self, **changes: Unpack[ScheduleChanges]) -> None:
        """Set fields of the schedule."""
        self.schedule = copy_with(self.schedule, **changes)

    def move(self, row: Execution, state: State, reason: str) -> None:
        """End an execution, or what is left of its waiting, and stamp it with the time."""
        ended = row.to(
            state, reason=str(reason), actor=self.actor, finished_at=self.now, leased_until=None
        )
        self.note(Change(row, ended))

    def note(self, change: Change) -> None:
        """Put an execution in place of its earlier self."""
        self._before.setdefault(change.before.id, change.before)
        self.rows[change.before.id] = change.after

    def create(
        self,
        run_at: datetime,
        *,
        kind: Kind = Kind.SCHEDULED,
        due_at: datetime | None = None,
        state: State = State.PENDING,
        reason: str = "",
    ) -> None:
        """Create an execution, due at its slot unless another instant is given."""
        draft = Draft(
            kind=kind,
            run_at=run_at,
            due_at=run_at if due_at is None else due_at,
            snapshot=self.schedule.snapshot(),
            schedule_id=self.schedule.id,
            state=state,
            reason=str(reason),
            actor=self.actor,
            tzdata=self.tzdata,
        )
        self._creates.append(draft)

    def record(self, ranges: Iterable[SlotRange]) -> None:
        """Note slots that passed without a row."""
        self._ranges.extend(ranges)

    def retract(self, after: datetime, remaining: Iterable[SlotRange]) -> None:
        """Forget what is recorded of slots after an instant, but for what remains of it."""
        self._retracts_after = after
        self.record(remaining)

    def next_rows(self) -> list[Execution]:
        """Return the rows that could be the next row, earliest first; there should be one."""
        cursor = self.schedule.cursor
        rows = (row for row in self.rows.values() if row.is_untried and row.occupies_slot)
        return sorted((row for row in rows if row.run_at > cursor), key=lambda row: row.run_at)

    def taken(self) -> set[datetime]:
        """Return the slots after the cursor that have a row."""
        rows: list[Draft] = [row for row in self.rows.values() if row.occupies_slot]
        rows += [draft for draft in self._creates if draft.kind is Kind.SCHEDULED]
        return {row.run_at for row in rows if row.run_at > self.schedule.cursor}

    def plan(self) -> Plan:
        """Return what has been written."""
        changes = (Change(before, self.rows[key]) for key, before in self._before.items())
        return Plan(
            self.base,
            self.schedule,
            tuple(changes),
            tuple(self._creates),
            tuple(self._ranges),
            retracts_after=self._retracts_after,
        )
