"""The port of an executor: what runs a job's function, somewhere, and tells how it ended.

An executor never raises because of what a job does. A job that returns, raises, hangs, eats all
memory or kills its process gives one outcome each time, and harms no other job; where an executor
cannot keep that promise it says so in its own documentation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Protocol

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.results import RESULT_LIMIT
from sempre.domain.schedule import Schedule

__all__ = ["Ended", "Executor", "Isolation", "Outcome", "Progress", "Run", "Task"]

Isolation = Literal["thread", "async", "process"]
"""Where a job runs: in a thread, on the event loop, or in a child process of its own."""


@dataclass(frozen=True)
class Task:
    """A registered function and how it wants to be run.

    Attributes:
        name: under which it is registered.
        function: the user's own, `def` or `async def`.
        isolation: where it runs.
        memory: the most bytes of address space a child process may have; None is no limit.
        redact: whole names, with wildcards, whose values are masked before they are stored.
        result_limit: the most bytes of JSON that are stored of what it returns.
    """

    name: str
    function: Callable[..., Any]
    isolation: Isolation = "thread"
    memory: int | None = None
    redact: tuple[str, ...] = ()
    result_limit: int = RESULT_LIMIT


class Run(NamedTuple):
    """One attempt.

    Attributes:
        execution: as it was claimed.
        task: the function that the run calls.
        timeout: how long the run may take.
        schedule: the schedule that the claim was planned with; None for one-off work, and where
            the answer of the claim was lost.
    """

    execution: Execution
    task: Task
    timeout: timedelta | None = None
    schedule: Schedule | None = None

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
    """It raised, or was given arguments it does not take."""
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    """It ended because somebody asked it to."""
    SKIPPED = "skipped"
    """It found that there was nothing to do; its error says why."""
    CRASHED = "crashed"
    """Its process ended without an answer."""
    INTERRUPTED = "interrupted"
    """Its worker stopped and did not wait for it."""
    RELEASED = "released"
    """It never began: its worker gives the claim back."""

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows how far it got."""
        return self in (Ended.CRASHED, Ended.INTERRUPTED)


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        ended: how.
        result: what it returned, as it is stored (see `domain.results`); None unless it succeeded.
        error: the last line of what it raised, for a list: `ValueError: no such region`.
        traceback: all of it, redacted and capped at 8 KB.
        seconds: how long it took, by this process's clock.
    """

    ended: Ended
    result: Json = None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Progress:
    """How far a run has come, as it told itself."""

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

        It may submit another run, but must not wait for one: that may have to come after it.
        """
        ...

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False if it is unknown. A thread can only be asked, not ended."""
        ...

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        ...

    @property
    def stuck(self) -> int:
        """How many runs are over for us (timed out, cancelled) but still occupy their thread."""
        ...

    def stop(self) -> None:
        """End at once whatever still runs, without calling `done`, and give everything back."""
        ...
