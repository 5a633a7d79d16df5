"""The receipt of an enqueue: what became of the work, and how to wait for its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Generic, TypeVar, cast

from sempre.app.options import Duration
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.results import NotJson, TooLarge, UnknownMark, read_result
from sempre.domain.states import LIVE, State
from sempre.engine.core import Engine
from sempre.errors import (
    NotFinished,
    Refused,
    ResultError,
    ResultNotJson,
    ResultTooLarge,
    WorkFailed,
)
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Cancelled

__all__ = ["Receipt"]

R = TypeVar("R")
ALWAYS = ("id", "created")
SHORTEST_PAUSE = 0.01
LONGEST_PAUSE = 1.0


@dataclass(frozen=True)
class Receipt(Generic[R]):
    """What became of an enqueue; waits for the execution, or cancels it.

    Attributes:
        id: of the execution; for a duplicate, of the execution that exists already.
        created: whether the enqueue created an execution.
        rejected_by: the switch or gate that rejected the work, or an empty text.
        failures: how often in a row executions of the same unique key have failed before.
        waits_until: if the key was refused after a failure, when it is accepted again.
    """

    id: str
    created: bool = True
    rejected_by: str = ""
    failures: int = 0
    waits_until: datetime | None = None
    _engine: Callable[[], Engine] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Show the id, whether it was created, and every other field that is set."""
        shown = {"id": self.id, "created": self.created, "rejected_by": self.rejected_by}
        shown |= {"failures": self.failures, "waits_until": self.waits_until}
        parts = [f"{name}={value!r}" for name, value in shown.items() if value or name in ALWAYS]
        return f"Receipt({', '.join(parts)})"

    @property
    def execution(self) -> Execution | None:
        """The execution as it is now; None if it is gone, or its transaction is still open."""
        engine = self._work()
        found = engine.read_one(engine.store.candidates([self.id]))
        return found.execution if found else None

    def wait(self, timeout: Duration | None = None) -> R:
        """Wait until the execution has ended, and return the result of the job.

        The result comes back exactly, but for what JSON lacks: a tuple comes back as a list, and
        keys of an object as texts.

        Raises:
            ResultNotJson: the job succeeded, and its result is not JSON; the error has its repr.
            ResultTooLarge: the job succeeded, and its result is over `result_limit`.
            NotFinished: the execution has not ended within the timeout.
            WorkFailed: the execution failed, or was cancelled or skipped; the message says why.
            Refused: the work was rejected: there is no execution to wait for.
        """
        longest = None if timeout is None else read_duration("timeout", timeout).total_seconds()
        pause, waited, quiet = SHORTEST_PAUSE, 0.0, Event()
        while (ended := self._ended()) is None:
            if longest is not None:
                if waited >= longest:
                    raise NotFinished(f"execution {self.id} is not done after {waited:g} s.")
                pause = min(pause, longest - waited)
            # Counted, not timed: the wait ends on a clock that stands still too.
            quiet.wait(pause)
            waited += pause
            pause = min(pause * 2, LONGEST_PAUSE)
        return self._result(ended)

    async def wait_async(self, timeout: Duration | None = None) -> R:  # noqa: ASYNC109 - as `wait`
        """Do as `wait` does without blocking the event loop."""
        import asyncio  # noqa: PLC0415 - most programs that import Sempre have no loop

        return await asyncio.to_thread(self.wait, timeout)

    def cancel(self) -> bool:
        """Cancel the execution, or ask for its end if it runs; False if it had ended before."""
        engine = self._work()
        [answer] = engine.store.cancel([self.id])
        if answer is Cancelled.ENDED:
            # The execution may have been the next one under its limit.
            engine.limits.open_all()
        return answer in (Cancelled.ENDED, Cancelled.ASKED)

    def _work(self) -> Engine:
        if self.rejected_by or self._engine is None:
            raise Refused(f"there is no such work: it was rejected by {self.rejected_by}.")
        return self._engine()

    def _ended(self) -> Execution | None:
        execution = self.execution
        waits = execution is None or execution.state in (*LIVE, State.RUNNING)
        return None if waits else execution

    def _result(self, execution: Execution) -> R:
        if execution.state is not State.SUCCEEDED:
            reason = execution.reason or "no reason"
            raise WorkFailed(f"execution {execution.id} is {execution.state}: {reason}.")
        engine = self._work()
        attempts = engine.read(engine.store.attempts(execution.id))
        results = [each.result for each in attempts if each.state is State.SUCCEEDED]
        found = read_result(results[-1]) if results else None
        if isinstance(found, NotJson):
            shown = redacted_text(found.text)
            raise ResultNotJson(self.id, type_name=found.type_name, text=found.text, shown=shown)
        if isinstance(found, TooLarge):
            raise ResultTooLarge(self.id, size=found.size, limit=found.limit)
        if isinstance(found, UnknownMark):
            raise ResultError(self.id, f'a newer release stored its result as "{found.mark}".')
        return cast("R", found)
