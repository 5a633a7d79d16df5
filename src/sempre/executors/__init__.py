"""Executors: what runs the functions of jobs, in threads, on an event loop, in child processes.

`Executors` is all three behind the one port, and sends each run where its task wants to be.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, get_args

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.effects import Opener
from sempre.ports.executor import Ended, Executor, Isolation, Outcome, Progress, Run

if TYPE_CHECKING:
    from sempre.ports.executor import Task

__all__ = ["Executors"]

_LOG = logging.getLogger("sempre.executors")


class Executors:
    """An executor for every isolation.

    Attributes:
        unavailable: isolations that could not be started, each with the reason; a worker should
            claim none of their jobs. A run of one that comes all the same fails with it.
    """

    def __init__(
        self,
        lookup: "Callable[[str], Task]",
        *,
        isolations: Collection[Isolation] = get_args(Isolation),
        after_fork: Iterable[Callable[[], object]] = (),
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        broken: Callable[[str], None] | None = None,
        opener: Opener | None = None,
    ) -> None:
        """Make those that are wanted.

        Args:
            lookup: returns a task by its name, or raises KeyError; asked in the child.
            isolations: which ones; without "process" nothing is forked.
            after_fork: called in each child process before its job.
            clock: times limits and durations.
            grace: how long a run that was asked to end is given to do so.
            broken: called with the reason if one of them can begin no run any more; the process
                should be replaced.
            opener: begins the transaction of a run, in the process in which its job asks for it.
        """
        self.unavailable: dict[Isolation, str] = {}
        self._lookup = lookup
        self._after_fork = tuple(after_fork)
        self._clock = clock or SystemClock()
        self._grace = grace
        self._broken = broken
        self._opener = opener
        self._executors = {kind: self._made(kind) for kind in _IN_ORDER if kind in isolations}

    def start(self) -> None:
        """Start them, first the one that forks; one that cannot is `unavailable`, with a warning.

        It forks, so it must be called before this process has threads.
        """
        for isolation, executor in [*self._executors.items()]:
            try:
                executor.start()
            except (OSError, Refused) as error:
                _LOG.warning("no job can run with isolation=%r here: %s", isolation, error)
                self.unavailable[isolation] = str(error)
                del self._executors[isolation]

    def submit(self, run: Run, done: Callable[[Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread."""
        isolation = run.task.isolation
        executor = self._executors.get(isolation)
        if executor is None:
            why = self.unavailable.get(isolation, "this worker was made without it")
            error = f"isolation={isolation!r} is not available: {why}"
            done(Outcome(run, Ended.FAILED, error=error))
        else:
            executor.submit(run, done)

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False if it is unknown. A thread can only be asked, not ended."""
        asked = [each.cancel(execution_id, reason=reason) for each in self._executors.values()]
        return any(asked)

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        told: dict[str, Progress] = {}
        for executor in self._executors.values():
            told.update(executor.progress())
        return told

    @property
    def stuck(self) -> int:
        """How many runs were told of but still occupy their place."""
        return sum(executor.stuck for executor in self._executors.values())

    def stop(self) -> None:
        """End at once whatever still runs, without calling `done`, and give everything back."""
        for executor in self._executors.values():
            executor.stop()

    def _made(self, isolation: Isolation) -> Executor:
        # Imported when they are wanted: `current()` must not cost the import of asyncio.
        if isolation == "thread":
            from sempre.executors.threads import ThreadExecutor  # noqa: PLC0415

            return ThreadExecutor(clock=self._clock, opener=self._opener)
        if isolation == "async":
            from sempre.executors.loop import AsyncExecutor  # noqa: PLC0415

            return AsyncExecutor(clock=self._clock, grace=self._grace, opener=self._opener)
        from sempre.executors.process import ProcessExecutor  # noqa: PLC0415

        return ProcessExecutor(
            self._lookup,
            after_fork=self._after_fork,
            clock=self._clock,
            grace=self._grace,
            broken=self._broken,
            opener=self._opener,
        )


# What forks comes first, as the others begin threads.
_IN_ORDER: tuple[Isolation, ...] = ("process", "async", "thread")
