"""Plans: the writes of one decision as data, and the builder of a plan.

A store carries out a plan in one atomic operation, if the rows that the plan was made from are
unchanged. This module reads neither clock nor store: equal input gives an equal plan.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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
    """The time at which a plan is made: the store's now, and the version of the time zones."""

    now: datetime
    tzdata: str = ""


@dataclass(frozen=True)
class Change:
    """One execution before and after; the store compares state and attempt before it writes."""

    before: Execution
    after: Execution

    @property
    def loss(self) -> str:
        """Why an attempt was lost, if another worker ended the attempt; otherwise empty."""
        before = self.before
        if before.state is not State.RUNNING:
            return ""
        if self.after.crashes > before.crashes:
            return f"lease lost: session {before.session} held it until {before.leased_until}"
        return self.after.reason

    @property
    def is_rescue(self) -> bool:
        """Whether an attempt is taken from a worker whose lease has expired."""
        before = self.before
        return before.state is State.RUNNING and self.after.crashes > before.crashes


@dataclass(frozen=True)
class Plan:
    """Writes that a store carries out together or not at all.

    Attributes:
        base: the schedule that the plan was made from; None if no schedule matters. A store refuses
            the plan if the revision of the schedule has changed since, or, where the plan changes
            the schedule, its starts or cursor.
        schedule: the schedule after the plan.
        changes: executions that change their state.
        creates: executions to create.
        ranges: slots that passed without an execution.
        retracts_after: recorded ranges that reach beyond this instant are deleted; what remains of
            them is among `ranges`.
        decides: the id of the execution whose start the plan decides on.
        stopped_by: the switch that was off for that execution. A store refuses the plan if another
            switch, or none, is off for the execution now.
    """

    base: Schedule | None = None
    schedule: Schedule | None = None
    changes: tuple[Change, ...] = ()
    creates: tuple[Draft, ...] = ()
    ranges: tuple[SlotRange, ...] = ()
    decides: str = ""
    stopped_by: Switch | None = None
    retracts_after: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the plan changes nothing."""
        same = self.base == self.schedule and self.retracts_after is None
        return same and not (self.changes or self.creates or self.ranges)

    @property
    def has_start(self) -> bool:
        """Whether the plan starts an execution, which needs a session and a fence: a claim does."""
        return any(change.after.state is State.RUNNING for change in self.changes)

    @property
    def moves(self) -> bool:
        """Whether it changes its schedule in any way."""
        return self.base is not None and self.schedule is not None and self.schedule != self.base

    @property
    def redeclares(self) -> bool:
        """Whether it changes what a person or deploy declares: all other moves leave that alone."""
        before, after = self.base, self.schedule
        if before is None or after is None:
            return False
        return (
            after.definition is not before.definition
            or after.name != before.name
            or after.pause != before.pause
            or after.deleted != before.deleted
            or after.declared != before.declared
        )

    @property
    def renames(self) -> bool:
        """Whether it gives its schedule another name."""
        before, after = self.base, self.schedule
        return before is not None and after is not None and after.name != before.name

    def is_overtaken(self, now: datetime) -> bool:
        """Whether the plan moves a cursor back from an instant that is no longer in the future.

        The store's clock may have been set forward since the plan was made. The store then refuses
        the plan: a cursor in the past never goes back.
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
    """A plan in the making: the schedule and its rows after the changes so far."""

    def __init__(
        self,
        schedule: Schedule,
        rows: Iterable[Execution],
        moment: PlanningTime,
        *,
        actor: str = "",
    ) -> None:
        """Begin with the schedule and the rows as the store has them."""
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

    def rename(self, to: str) -> None:
        """Give the schedule another name."""
        self.schedule = copy_with(self.schedule, name=to)

    def move(self, row: Execution, state: State, reason: str) -> None:
        """End an execution, with a reason, the actor and the time."""
        ended = row.to(
            state, reason=str(reason), actor=self.actor, finished_at=self.now, leased_until=None
        )
        self.note(Change(row, ended))

    def note(self, change: Change) -> None:
        """Add the change of an execution; a later change of the same execution replaces it."""
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
        """Add ranges of slots that passed without a row."""
        self._ranges.extend(ranges)

    def retract(self, after: datetime, remaining: Iterable[SlotRange]) -> None:
        """Delete recorded ranges that reach beyond an instant, and add what remains of them."""
        self._retracts_after = after
        self.record(remaining)

    def next_rows(self) -> list[Execution]:
        """Return the candidates for the next row, earliest first; usually there is one."""
        cursor = self.schedule.cursor
        rows = (row for row in self.rows.values() if row.is_untried and row.occupies_slot)
        return sorted((row for row in rows if row.run_at > cursor), key=lambda row: row.run_at)

    def taken(self) -> set[datetime]:
        """Return the slots after the cursor that have a row."""
        rows: list[Draft] = [row for row in self.rows.values() if row.occupies_slot]
        rows += [draft for draft in self._creates if draft.kind is Kind.SCHEDULED]
        return {row.run_at for row in rows if row.run_at > self.schedule.cursor}

    def plan(self) -> Plan:
        """Return the finished plan."""
        changes = (Change(before, self.rows[key]) for key, before in self._before.items())
        return Plan(
            self.base,
            self.schedule,
            tuple(changes),
            tuple(self._creates),
            tuple(self._ranges),
            retracts_after=self._retracts_after,
        )
