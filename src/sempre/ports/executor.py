"""The port of an executor: it runs the function of a job, and reports the outcome.

An executor never raises because of what a job does. A job that returns, raises, hangs, eats all
memory or kills its process gives one outcome each time, and harms no other job; an executor that
cannot keep that promise says so in its own documentation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Protocol

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.results import RESULT_LIMIT
from sempre.domain.run_log import LogRule
from sempre.domain.schedule import Schedule
from sempre.ports.tracing import RunSpan

__all__ = ["Ended", "Executor", "Isolation", "Outcome", "Progress", "Run", "Task"]

Isolation = Literal["thread", "async", "process"]
"""Where a job runs: in a thread, on the event loop, or in a child process of its own."""


@dataclass(frozen=True)
class Task:
    """A registered function and how it runs.

    Attributes:
        name: under which the function is registered.
        function: of the user, `def` or `async def`.
        isolation: where the function runs.
        memory: the most bytes of address space a child process may have; None is no limit.
        redact: whole names, with wildcards, whose values are masked before they are stored.
        result_limit: the largest result that is stored, in bytes of JSON.
        log_rule: which records of its runs are captured.
    """

    name: str
    function: Callable[..., Any]
    isolation: Isolation = "thread"
    memory: int | None = None
    redact: tuple[str, ...] = ()
    result_limit: int = RESULT_LIMIT
    log_rule: LogRule = field(default=LogRule())


class Run(NamedTuple):
    """One attempt.

    Attributes:
        execution: as it was claimed.
        task: the function that the run calls.
        timeout: how long the run may take.
        schedule: the schedule that the claim was planned with; None for one-off work, and where
            the answer of the claim was lost.
        span: the span of the run, if spans are recorded.
    """

    execution: Execution
    task: Task
    timeout: timedelta | None = None
    schedule: Schedule | None = None
    span: RunSpan | None = None

    @property
    def is_alone(self) -> bool:
        """Whether the run needs a child process of its own, whatever the isolation of its task.

        An earlier attempt was in flight when its process died, and may be the reason. Alone it can
        only crash itself.
        """
        return self.execution.crashes > 0


class Ended(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """The function raised, or does not take the arguments."""
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    """The run ended on request."""
    SKIPPED = "skipped"
    """The job found nothing to do; the error says why."""
    RETRY_LATER = "retry later"
    """The job raised RetryLater; the error says why."""
    GAVE_UP = "gave up"
    """The job raised GiveUp; the error says why."""
    CRASHED = "crashed"
    """The process of the run ended without a report."""
    INTERRUPTED = "interrupted"
    """The worker stopped and did not wait for the run."""
    RELEASED = "released"
    """The run never began: its worker gives the claim back."""

    @property
    def is_unknown(self) -> bool:
        """Whether how far the run got is unknown."""
        return self in (Ended.CRASHED, Ended.INTERRUPTED)


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        ended: the way in which the run ended.
        result: the result as it is stored (see `domain.results`); None unless the run succeeded.
        error: the last line of the exception, for a list: `ValueError: no such region`.
        traceback: the whole traceback, redacted and capped at 8 KB.
        seconds: how long the run took, by the clock of this process.
        log: what the job has logged, as `domain.run_log` describes it.
        types: the qualified names of the exception's type and its base types, if the run failed or
            timed out.
        after: how long, or until when, the execution waits; None unless the job raised RetryLater.
    """

    ended: Ended
    result: Json = None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    log: str = ""
    types: tuple[str, ...] = ()
    after: timedelta | datetime | None = None


@dataclass(frozen=True)
class Progress:
    """How far a run has come, by its own report."""

    done: float
    total: float | None = None
    note: str = ""


class Executor(Protocol):
    """What every executor promises."""

    def start(self) -> None:
        """Get ready. The process executor forks its fork server here, before any thread exists."""
        ...

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        `done` may submit another run, but must not wait for one: that run may begin only after
        `done` has returned.
        """
        ...

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False if the run is unknown. A thread can only be asked, not ended."""
        ...

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of runs that have reported any, by execution id."""
        ...

    def logs(self) -> Mapping[int, str]:
        """Return the log, so far, of each run in flight that has logged, by fence."""
        ...

    @property
    def stuck(self) -> int:
        """How many runs have timed out or were cancelled, but still occupy their thread."""
        ...

    def stop(self) -> None:
        """End every run at once, without calling `done`, and release all resources."""
        ...
