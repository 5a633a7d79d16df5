"""Queries of people about schedules and executions, and the rows of their answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.states import Kind, State

__all__ = ["ActionQuery", "Attempt", "ExecutionQuery", "Page", "Report", "Rollup", "ScheduleQuery"]

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
class ActionQuery:
    """Which actions to list, newest first.

    Attributes:
        target: the exact target, such as `schedule:bill`.
    """

    target: str | None = None
    verb: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50
    after: str = ""

    def matches(self, action: Action) -> bool:
        """Return whether an action fits the query, apart from its page."""
        at = action.at
        return (
            self.target in (None, action.target)
            and self.verb in (None, action.verb)
            and self.actor in (None, action.actor)
            and (self.since is None or (at is not None and at >= self.since))
            and (self.until is None or (at is not None and at <= self.until))
        )


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
    """A part of a list, and where the next part begins; an empty text at its end."""

    items: tuple[T, ...]
    after: str = ""


@dataclass(frozen=True)
class Rollup:
    """How many executions of a schedule were purged: the count of one day, state and kind.

    Attributes:
        day: the UTC day of the slots, as in 2026-03-31.
        state: the final state of the executions.
        count: the number of executions.
        seconds: the sum of the run times of their last attempts.
        kind: why the executions existed; None in counts of a release before schema version 3, which
            counted executions of any kind together.
    """

    schedule_id: str
    day: str
    state: State
    count: int
    seconds: float = 0.0
    kind: Kind | None = None

    @property
    def key(self) -> tuple[str, str, State, Kind | None]:
        """What a store keeps one count for."""
        return self.schedule_id, self.day, self.state, self.kind

    @property
    def order(self) -> tuple[str, str, str]:
        """The place among the counts of a schedule: by day, state and kind."""
        return self.day, self.state, self.kind or ""


@dataclass(frozen=True)
class Attempt:
    """One attempt at an execution, kept for people who examine what happened.

    Attributes:
        state: what the execution became by the attempt; running, if the attempt was late.
        error: what the job raised, or why the attempt was lost.
        late: whether the result came when the execution was no longer this claim's.
        lost: whether the attempt was ended from outside: its lease ran out, or another execution
            replaced it.
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
    """The progress of a run, as its worker last reported it.

    Attributes:
        fence: of the claim; an execution that is claimed again has a higher one.
        done: how much was done, in a unit of the job's own.
        total: how much there is to do, if the job knows.
        note: what the job was doing.
        reported_at: set by the store.
    """

    execution_id: str
    fence: int
    done: float
    total: float | None = None
    note: str = ""
    reported_at: datetime | None = None
