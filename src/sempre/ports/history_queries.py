"""What people ask a store who look into what happened, and what they are told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from sempre.domain.arguments import Json
from sempre.domain.states import Kind, State

__all__ = ["Attempt", "ExecutionQuery", "Page", "Report", "Rollup", "ScheduleQuery"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ExecutionQuery:
    """Which executions to list, newest slot first."""

    schedule_id: str | None = None
    job: str | None = None
    states: frozenset[State] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class ScheduleQuery:
    """Which schedules to list, by name."""

    tag: str | None = None
    job: str | None = None
    text: str = ""
    limit: int = 50
    after: str = ""


@dataclass(frozen=True)
class Page(Generic[T]):
    """A stretch of a list, and where the next one begins; an empty text at its end."""

    items: tuple[T, ...]
    after: str = ""


@dataclass(frozen=True)
class Rollup:
    """What a schedule did on one day, kept when its rows are gone."""

    schedule_id: str
    day: str
    state: State
    count: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Attempt:
    """One try at an execution, kept for the people who look into what happened.

    Attributes:
        state: what the execution became by it; running, if it was late.
        error: what it raised, or why it was lost.
        late: whether its result came when the execution was no longer this claim's.
        lost: whether somebody else ended it: its lease ran out, or another execution replaced it.
    """

    execution_id: str
    fence: int
    session: str
    started_at: datetime
    finished_at: datetime
    state: State
    result: Json = None
    error: str = ""
    late: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Report:
    """How far a run had come when its worker last told of it.

    Attributes:
        fence: of the claim that it is about; an execution that was begun again has a higher one.
        done: how much was done, in a unit of the job's own.
        total: how much there is to do, if the job knows.
        note: what was being done.
        told_at: set by the store.
    """

    execution_id: str
    fence: int
    done: float
    total: float | None = None
    note: str = ""
    told_at: datetime | None = None
