"""What crosses the port of a store: questions, orders and answers, as plain values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Plan, PlanningTime
from sempre.domain.planning.settlement import plan_success
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.domain.unreadable import Unreadable
from sempre.ports.history_queries import (
    Attempt,
    ExecutionQuery,
    Page,
    Report,
    Rollup,
    ScheduleQuery,
)
from sempre.ports.work import Alike, Backoff, Enqueued, UniqueKey, Work

__all__ = [
    "Alike",
    "Attempt",
    "Backoff",
    "Birth",
    "Cancelled",
    "Candidate",
    "Enqueued",
    "ExecutionQuery",
    "Order",
    "Page",
    "Pass",
    "Reading",
    "Report",
    "Rollup",
    "ScheduleQuery",
    "Session",
    "Settled",
    "Settlement",
    "Stretch",
    "Success",
    "Switch",
    "Tick",
    "UniqueKey",
    "Unreadable",
    "View",
    "Waiting",
    "Wanted",
    "Work",
    "report_of_pass",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """An answer and the store's now when it was given, by which whoever asked goes on planning.

    Attributes:
        unreadable: rows that were asked for and are left out of the answer, since this process
            cannot read them: one for each schedule, execution or other row that is missing.
    """

    now: datetime
    value: T
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True)
class View:
    """A schedule and those of its rows that planning looks at.

    They are the live and the running ones, those of kind scheduled after the cursor that are not
    superseded, and those that ended after the earliest of the live ones was due.
    """

    schedule: Schedule
    rows: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """An execution that somebody may want to start or take back, and what that depends on.

    Attributes:
        view: its schedule, with the rows that planning looks at; None for one-off work.
        stopped_by: the switch that is off for it while it waits, if any.
    """

    execution: Execution
    view: View | None = None
    stopped_by: Switch | None = None


class Waiting(NamedTuple):
    """What the bell has to know of an execution that waits, of which there may be very many."""

    id: str
    due_at: datetime
    queue: str
    priority: int
    attempt: int
    state: State

    @classmethod
    def of(cls, row: Execution) -> "Waiting":
        """Return it of an execution."""
        told = row.snapshot
        return cls(row.id, row.due_at, told.queue, told.priority, row.attempt, row.state)


@dataclass(frozen=True)
class Stretch:
    """Schedules that were checked, in order of id.

    Attributes:
        count: how many they are; fewer than were asked for if there are no more after them.
        last: the id of the last one; empty if there was none.
        doubtful: the names of those that have to be looked at.
    """

    count: int
    last: str = ""
    doubtful: tuple[str, ...] = ()


@dataclass(frozen=True)
class Birth:
    """A schedule to be created, and the orders' rows that come with it: normally its first one."""

    schedule: Schedule
    rows: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class Order:
    """A plan to be carried out, with an id for each execution that it creates.

    The ids make it safe to repeat an order whose reply was lost: it is then found done.
    """

    plan: Plan
    ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an order that a store could carry out by half only."""
        if len(self.ids) != len(self.plan.creates):
            message = f"{len(self.plan.creates)} executions need as many ids, not {len(self.ids)}"
            raise ValueError(message)


@dataclass(frozen=True)
class Wanted:
    """Which work a worker can do, and how much of it it wants now.

    Attributes:
        overdue: if set, only what has been due for at least so long is wanted, the one that has
            waited longest first, whatever its priority.
    """

    queues: frozenset[str]
    jobs: frozenset[str]
    limit: int
    overdue: timedelta | None = None


class Settled(StrEnum):
    """What became of a settlement."""

    DONE = "done"
    """It is recorded; repeating it gives the same answer."""
    LATE = "late"
    """The execution is no longer this claim's; the result was kept beside it as late."""
    REPLAN = "replan"
    """Its schedule has changed since it was planned: read and plan again."""


@dataclass(frozen=True)
class Settlement:
    """The end of an attempt: a plan for the execution, and what it returned or raised.

    Attributes:
        execution: as it was claimed; its fence tells whether the claim still holds.
        plan: made by `plan_success`, `plan_failure` or `plan_release`.
        result: what it returned, as JSON.
        error: what it raised, shortened.
    """

    execution: Execution
    plan: Plan
    result: Json = None
    error: str = ""


class Success(Settlement):
    """The end of an attempt that did its work: its plan is made only if somebody looks at it.

    It changes nothing but the execution itself, so a store may record many of them at once.

    Attributes:
        finished_at: when it ended.
    """

    finished_at: datetime

    def __init__(self, execution: Execution, finished_at: datetime, result: Json = None) -> None:
        """Note how an execution ended that runs."""
        values = {"execution": execution, "finished_at": finished_at, "result": result, "error": ""}
        # It is frozen, and one of very many.
        object.__setattr__(self, "__dict__", values)

    @cached_property
    def plan(self) -> Plan:
        """What `plan_success` makes of it."""
        return plan_success(self.execution, PlanningTime(self.finished_at))


class Cancelled(StrEnum):
    """What became of the wish that an execution ends."""

    ENDED = "ended"
    """It was waiting, and is over."""
    ASKED = "asked"
    """It runs; its holder is told at the next tick."""
    OVER = "over"
    """It had ended before, or there is none of that id."""
    NEXT_ROW = "next row"
    """Refused: it is the next row of its schedule, which must have one. Skip the slot instead."""


@dataclass(frozen=True)
class Session:
    """One worker process, which holds the leases of what it runs.

    Attributes:
        id: random and never used again; a host and pid may be.
        leased_until: set by the store at every tick; past it, others take its work back.
    """

    id: str
    host: str = ""
    pid: int = 0
    queues: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    tzdata: str = ""
    release: int = 0
    started_at: datetime | None = None
    leased_until: datetime | None = None

    def is_leased_beyond(self, instant: datetime) -> bool:
        """Tell whether it has its lease until after an instant."""
        return self.leased_until is not None and self.leased_until > instant


@dataclass(frozen=True)
class Tick:
    """What a worker has to know each time it shows that it is alive.

    A run whose fence is not held any more is no longer the worker's: it was replaced, taken back
    or ended by somebody else, and has to be stopped. That can be said only of claims whose answer
    had come before the tick was sent; a later one may not be counted yet.

    Attributes:
        alive: whether the session was known, and holds its leases now; if not, it must stop what
            it runs.
        next_due_at: when the next live row that it could run is due, stopped by a switch or not:
            a worker that looks once in a beat for what is stopped loses little.
        pass_due_at: when the next maintenance pass is due.
        cancelled: which of the executions it runs somebody wants to end, in this very attempt.
        held: the fences of what the session runs; no two claims ever have the same one.
        has_expired: whether anything, of any session, runs though its session is gone or expired.
        store: the identity of the store that tells so; another one has taken its place if it is
            not the one that was.
    """

    alive: bool
    next_due_at: datetime | None = None
    pass_due_at: datetime | None = None
    cancelled: tuple[str, ...] = ()
    held: frozenset[int] = frozenset()
    has_expired: bool = False
    store: str = ""


# Of two who ask at once, the one that waited for the other may know an older now.
_PASS_MARGIN = timedelta(minutes=1)


@dataclass(frozen=True)
class Pass:
    """The maintenance pass: when it is due, who has it, and what the last one reported."""

    due_at: datetime
    holder: str = ""
    finished_at: datetime | None = None
    report: Mapping[str, Json] = field(default_factory=dict)

    def is_due(self, now: datetime, every: timedelta) -> bool:
        """Tell whether a pass may begin, for a worker that wants one `every` so often.

        It may when its time has come, and also when that lies farther ahead than the interval of
        the worker explains: a forged or mistaken due date does not last.
        """
        return self.due_at <= now or self.due_at > now + Pass.farthest(every)

    @staticmethod
    def farthest(every: timedelta) -> timedelta:
        """Return how far ahead the next pass can be due, where one is wanted `every` so often."""
        return every + _PASS_MARGIN


def report_of_pass(text: str) -> dict[str, Json]:
    """Return the stored report of a pass; one that cannot be read is as good as none.

    What the next pass goes on from begins anew then, which costs time and loses nothing.
    """
    try:
        report = json.loads(text)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}
