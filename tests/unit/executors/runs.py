"""Runs to submit, and a callback that collects their outcomes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from queue import SimpleQueue
from typing import Any

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.ports.executor import Executor, Isolation, Outcome, Run, Task

__all__ = ["SLOT", "Outcomes", "outcome_of", "run_of"]

SLOT = datetime(2026, 5, 4, 12, tzinfo=UTC)
# A test that hangs is ended, so that the others run; nothing is asserted by it.
HANGS_AFTER = 60
_NUMBERS = count(1)


def run_of(
    function: Callable[..., Any],
    *,
    args: dict[str, Json] | None = None,
    timeout: float | None = None,
    isolation: Isolation = "thread",
    redact: tuple[str, ...] = (),
    crashes: int = 0,
) -> Run:
    """Return a run of a function, as a worker would claim it."""
    number = next(_NUMBERS)
    name = getattr(function, "__name__", "job")
    execution = Execution(
        id=f"execution-{number}",
        kind=Kind.SCHEDULED,
        state=State.RUNNING,
        run_at=SLOT,
        due_at=SLOT + timedelta(seconds=3),
        created_at=SLOT,
        attempt=2,
        fence=number,
        crashes=crashes,
        snapshot=Snapshot(name="billing", job=name, args=args or {}),
    )
    task = Task(name=name, function=function, isolation=isolation, redact=redact)
    return Run(execution, task, None if timeout is None else timedelta(seconds=timeout))


class Outcomes:
    """Collects outcomes, one after the other."""

    def __init__(self) -> None:
        self._outcomes: SimpleQueue[tuple[Run, Outcome]] = SimpleQueue()

    def __call__(self, run: Run, outcome: Outcome) -> None:
        self._outcomes.put((run, outcome))

    def next(self) -> Outcome:
        """Wait for the next outcome."""
        return self.next_of_run()[1]

    def next_of_run(self) -> tuple[Run, Outcome]:
        """Wait for the next outcome; return it with its run."""
        return self._outcomes.get(timeout=HANGS_AFTER)

    @property
    def is_silent(self) -> bool:
        """Whether every outcome was returned by `next`."""
        return self._outcomes.empty()


def outcome_of(executor: Executor, run: Run) -> Outcome:
    """Submit a run and wait for its end."""
    outcomes = Outcomes()
    executor.submit(run, outcomes)
    return outcomes.next()
