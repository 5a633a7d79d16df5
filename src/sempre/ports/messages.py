"""Messages of the store port: questions, orders and answers, as plain values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Plan, PlanningTime
from sempre.domain.planning.settlement import plan_success
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch
from sempre.domain.unreadable import Unreadable
from sempre.ports.history_queries import (
    ActionQuery,
    Attempt,
    ExecutionQuery,
    Page,
    Report,
    Rollup,
    ScheduleQuery,
)
from sempre.ports.work import Alike, Backoff, Enqueued, UniqueKey, Work

__all__ = [
    "ActionQuery",
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
    "View",
    "Waiting",
    "Wanted",
    "Work",
    "effective",
    "report_of_pass",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """The answer of a store, and the store's now, which the caller plans with.

    Attributes:
        unreadable: rows that the answer leaves out because this process cannot read them: one entry
            for each schedule, execution or other row that is missing.
    """

    now: datetime
    value: T
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True)
class View:
    """A schedule and the rows of it that planning reads.

    These are live and running rows, rows of kind scheduled after the cursor that are not
    superseded, and rows that ended after the earliest live row was due.
    """

    schedule: Schedule
    rows: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """An execution to claim or to rescue, with all that planning needs.

    Attributes:
        view: the schedule, with the rows that planning reads; None for one-off work.
        stopped_by: the switch that is off for the waiting execution, if any.
    """

    execution: Execution
    view: View | None = None
    stopped_by: Switch | None = None


class Waiting(NamedTuple):
    """The fields of a waiting execution that an announcement to the broker needs."""

    id: str
    due_at: datetime
    queue: str
    priority: int
    attempt: int
    state: State

    @classmethod
    def of(cls, row: Execution) -> "Waiting":
        """Return the fields of an execution."""
        rules = row.snapshot
        return cls(row.id, row.due_at, rules.queue, rules.priority, row.attempt, row.state)


@dataclass(frozen=True)
class Stretch:
    """The result of checking a page of schedules, in order of id.

    Attributes:
        count: the number of schedules; fewer than the limit on the last page.
        last: the id of the last schedule; empty if the page is empty.
        suspect: the names of schedules that may need repair.
    """

    count: int
    last: str = ""
    suspect: tuple[str, ...] = ()


@dataclass(frozen=True)
class Birth:
    """A schedule to create, and its rows: normally the first next row.

    Attributes:
        action: the entry for the log of actions, if an operator creates the schedule.
    """

    schedule: Schedule
    rows: tuple[Execution, ...] = ()
    action: Action | None = None


@dataclass(frozen=True)
class Order:
    """A plan to carry out, with an id for each execution that the plan creates.

    The ids make it safe to repeat an order whose reply was lost: the store finds the order done.

    Attributes:
        action: the entry for the log of actions, written with the plan.
    """

    plan: Plan
    ids: tuple[str, ...] = ()
    action: Action | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless every execution has an id."""
        if len(self.ids) != len(self.plan.creates):
            message = f"{len(self.plan.creates)} executions need as many ids, not {len(self.ids)}"
            raise ValueError(message)


@dataclass(frozen=True)
class Wanted:
    """Which work a worker can run, and how much of it the worker wants now.

    Attributes:
        overdue: if set, only executions that have been due for at least this time are wanted, the
            longest wait first, whatever the priority.
    """

    queues: frozenset[str]
    jobs: frozenset[str]
    limit: int
    overdue: timedelta | None = None


class Settled(StrEnum):
    """The answer of a store to a settlement."""

    DONE = "done"
    """The settlement is recorded; a repetition gives this answer too."""
    LATE = "late"
    """The claim no longer holds the execution; the result was recorded as late."""
    REPLAN = "replan"
    """The schedule has changed since the plan was made: read and plan again."""


@dataclass(frozen=True)
class Settlement:
    """The end of an attempt: a plan for the execution, and what it returned or raised.

    Attributes:
        execution: the execution as claimed; the store compares its fence with the claim.
        plan: made by `plan_success`, `plan_failure` or `plan_release`.
        result: what it returned, as JSON.
        error: what it raised, shortened.
    """

    execution: Execution
    plan: Plan
    result: Json = None
    error: str = ""


class Success(Settlement):
    """The end of an attempt that succeeded; its plan is made only when it is read.

    A success changes only the execution itself, so a store may record many by one statement.

    Attributes:
        finished_at: when the attempt ended.
    """

    finished_at: datetime

    def __init__(self, execution: Execution, finished_at: datetime, result: Json = None) -> None:
        """Take the running execution, and when it ended."""
        values = {"execution": execution, "finished_at": finished_at, "result": result, "error": ""}
        # The class is frozen; one assignment is faster than one for each field.
        object.__setattr__(self, "__dict__", values)

    @cached_property
    def plan(self) -> Plan:
        """The plan that `plan_success` makes."""
        return plan_success(self.execution, PlanningTime(self.finished_at))


class Cancelled(StrEnum):
    """The answer of a store to a cancellation."""

    ENDED = "ended"
    """The execution waited, and is cancelled now."""
    ASKED = "asked"
    """The execution runs; its worker learns of the cancellation with its next heartbeat."""
    OVER = "over"
    """The execution had ended before, or the id is unknown."""
    NEXT_ROW = "next row"
    """Refused: the execution is the next row, which a schedule must have. Skip the slot instead."""


def effective(actions: Sequence[Action], answers: Sequence[Cancelled]) -> list[Action]:
    """Return the actions of cancellations that had an effect."""
    pairs = zip(actions, answers, strict=False)
    return [each for each, answer in pairs if answer in (Cancelled.ENDED, Cancelled.ASKED)]


@dataclass(frozen=True)
class Session:
    """One worker process, which holds the leases of the executions that it runs.

    Attributes:
        id: random and never used again, unlike a host and pid.
        leased_until: set by the store at every heartbeat; after it other workers rescue its work.
        draining: whether an operator asked the worker to finish its runs and to stop.
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
    draining: bool = False

    def is_leased_beyond(self, instant: datetime) -> bool:
        """Whether the lease ends after an instant."""
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
        next_due_at: when the next live row that it could run is due, stopped by a switch or not.
        pass_due_at: when the next maintenance pass is due.
        cancelled: which of the executions it runs somebody wants to end, in this very attempt.
        held: the fences of what the session runs; no two claims ever have the same one.
        has_expired: whether anything, of any session, runs though its session is gone or expired.
        store: the identity of the store that answers; it changes if the store is replaced.
        drain: whether an operator asked the worker to finish its runs and to stop.
    """

    alive: bool
    next_due_at: datetime | None = None
    pass_due_at: datetime | None = None
    cancelled: tuple[str, ...] = ()
    held: frozenset[int] = frozenset()
    has_expired: bool = False
    store: str = ""
    drain: bool = False


# Of two workers that ask at once, the one that waited may have an older now.
_PASS_MARGIN = timedelta(minutes=1)


@dataclass(frozen=True)
class Pass:
    """The maintenance pass: when it is due, which worker holds it, and the last report."""

    due_at: datetime
    holder: str = ""
    finished_at: datetime | None = None
    report: Mapping[str, Json] = field(default_factory=dict)

    def is_due(self, now: datetime, every: timedelta) -> bool:
        """Whether a pass may begin, for a worker with the interval `every`.

        It may begin when it is due, and also when its due date lies farther ahead than the interval
        allows: a wrong due date does not last.
        """
        return self.due_at <= now or self.due_at > now + Pass.farthest(every)

    @staticmethod
    def farthest(every: timedelta) -> timedelta:
        """Return how far ahead the next pass can be due with the interval `every`."""
        return every + _PASS_MARGIN


def report_of_pass(text: str) -> dict[str, Json]:
    """Return the stored report of a pass; an empty report if it cannot be read.

    The next pass then begins from the start, which costs time and loses nothing.
    """
    try:
        report = json.loads(text)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}
