"""Records: all that an explanation is made from, as read from a store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import State

__all__ = ["AttemptRecord", "Records", "SessionRecord"]


class AttemptRecord(Protocol):
    """One attempt at an execution, as a store keeps it."""

    @property
    def session(self) -> str:
        """The worker process."""
        ...

    @property
    def started_at(self) -> datetime:
        """When the attempt started."""
        ...

    @property
    def finished_at(self) -> datetime:
        """When the attempt ended."""
        ...

    @property
    def state(self) -> State:
        """The state of the execution after the attempt."""
        ...

    @property
    def error(self) -> str:
        """The error of the job, or why the attempt was lost."""
        ...

    @property
    def late(self) -> bool:
        """Whether the result came after the claim was lost."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the attempt was ended from outside."""
        ...


class SessionRecord(Protocol):
    """One worker process, as a store keeps it."""

    @property
    def id(self) -> str:
        """The id of the session."""
        ...

    @property
    def started_at(self) -> datetime | None:
        """When the session began."""
        ...

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that the worker serves."""
        ...


@dataclass(frozen=True, kw_only=True)
class Records:
    """The records about one slot or execution, and about what happened near it.

    Attributes:
        name: the name that was asked for.
        now: the store's now.
        asked: the instants that the question may mean, earliest first; the slot that exists among
            them is explained.
        asked_wall: the wall time of the question, if it was one.
        schedule: the schedule; None if there is none, or for one-off work.
        rows: the executions of these instants, of any kind.
        nearby: other executions of the schedule near the slot.
        ranges: ranges of slots without a row.
        attempts: by execution.
        actions: entries of the log of actions about the schedule, its executions, the switches that
            may stop it, and what healed it.
        sessions: the workers on record.
        meanwhile: executions of any schedule that ran near the slot.
        purged_days: days, as texts, of which only daily totals are left.
        kept_since: rows that ended before may be purged.
    """

    name: str
    now: datetime
    asked: tuple[datetime, ...] = ()
    asked_wall: datetime | None = None
    schedule: Schedule | None = None
    rows: Sequence[Execution] = ()
    nearby: Sequence[Execution] = ()
    ranges: Sequence[SlotRange] = ()
    attempts: Mapping[str, Sequence[AttemptRecord]] = field(default_factory=dict)
    actions: Sequence[Action] = ()
    sessions: Sequence[SessionRecord] = ()
    meanwhile: Sequence[Execution] = ()
    purged_days: frozenset[str] = frozenset()
    kept_since: datetime | None = None

    def about(self, *targets: str) -> list[Action]:
        """Return the actions on these targets, oldest first."""
        return _in_order(each for each in self.actions if each.target in targets)

    @property
    def of_schedule(self) -> list[Action]:
        """The actions on the schedule, under its present name and former ones, oldest first."""
        return _in_order(each for each in self.actions if each.target.startswith("schedule:"))


def _in_order(actions: Iterable[Action]) -> list[Action]:
    dated = [each for each in actions if each.at is not None]
    # Ids sort by time.
    return sorted(dated, key=lambda each: each.id)
