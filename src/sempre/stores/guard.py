"""The guard of every write: whether a plan still fits the rows that it was made from.

The rules of the memory store and the SQL stores, as pure functions of the store's facts. Redis has
these rules in a script, where comparing and writing must be one step.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple, Protocol

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Plan
from sempre.domain.planning.unique_conflict import is_revival
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind
from sempre.ports.messages import Order

__all__ = [
    "Facts",
    "Position",
    "Progress",
    "Slot",
    "fits",
    "is_done",
    "slots_stay_unique",
    "slots_taken",
]

Slot = tuple[str, datetime, Kind]
"""A schedule, an instant, and the kind of row: a slot has one row of each kind at most."""


class Position(NamedTuple):
    """The position of a schedule: a plan is compared with these fields of its base."""

    revision: int
    starts: int
    cursor: datetime

    @classmethod
    def of(cls, schedule: Schedule) -> "Position":
        """Return the position of a schedule."""
        return cls(schedule.revision, schedule.starts, schedule.cursor)


class Progress(NamedTuple):
    """The progress of an execution: a change is compared with these fields of the row before."""

    state: str
    attempt: int
    fence: int
    held_by: str

    @classmethod
    def of(cls, row: Execution) -> "Progress":
        """Return the progress of an execution."""
        return cls(row.state, row.attempt, row.fence, row.held_by)


class Facts(Protocol):
    """The facts of a store about the rows that a plan touches."""

    def position_of(self, schedule_id: str) -> Position | None:
        """Return the position of a schedule that exists."""
        ...

    def progress_of(self, execution_id: str) -> Progress | None:
        """Return the progress of an execution that exists."""
        ...

    def named_id(self, name: str) -> str | None:
        """Return the id of the schedule of a name, unless it is deleted."""
        ...

    def holders_of(self, slot: Slot) -> Collection[str]:
        """Return the ids of the rows that hold a slot."""
        ...


def is_done(order: Order, facts: Facts) -> bool:
    """Return whether an order was carried out before: the rows that it creates exist."""
    return bool(order.ids) and all(facts.progress_of(each) is not None for each in order.ids)


def fits(order: Order, facts: Facts) -> bool:
    """Return whether a plan still fits the rows that it was made from, and breaks no constraint."""
    plan = order.plan
    if plan.base is not None and not _base_stands(plan, plan.base, facts):
        return False
    if any(facts.progress_of(each) is not None for each in order.ids):
        return False
    if any(facts.progress_of(each.before.id) != Progress.of(each.before) for each in plan.changes):
        return False
    return _name_is_free(plan, facts) and slots_stay_unique(plan, facts)


def _name_is_free(plan: Plan, facts: Facts) -> bool:
    """Return whether a plan leaves the name of its schedule, or takes a free one."""
    if plan.base is None or plan.schedule is None or not plan.renames:
        return True
    return facts.named_id(plan.schedule.name) in (None, plan.base.id)


def slots_stay_unique(plan: Plan, facts: Facts) -> bool:
    """Return whether each slot still has one row of kind scheduled and one active backfill."""
    wanted = list(slots_taken(plan))
    if len(set(wanted)) < len(wanted):
        return False
    holders = {each for slot in wanted for each in facts.holders_of(slot)}
    freed = {change.before.id for change in plan.changes if not change.after.holds_slot}
    return holders <= freed


def slots_taken(plan: Plan) -> Iterator[Slot]:
    """Yield the slots that rows hold only after a plan: new rows, and retried backfills."""
    changes = plan.changes
    revived = (each.after for each in changes if is_revival(each) and not each.before.holds_slot)
    for draft in (*plan.creates, *revived):
        if draft.schedule_id is not None and draft.kind in (Kind.SCHEDULED, Kind.BACKFILL):
            yield draft.schedule_id, draft.run_at, draft.kind


def _base_stands(plan: Plan, base: Schedule, facts: Facts) -> bool:
    current = facts.position_of(base.id)
    if current is None or current.revision != base.revision:
        return False
    return current == Position.of(base) or plan.schedule == base
