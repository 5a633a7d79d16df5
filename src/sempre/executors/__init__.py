"""Executors run the functions of jobs: in threads, on an event loop, in child processes.

`Executors` is all three behind one port, and sends each run where its task asks to run. A run that
was in flight when its process died gets a child process of its own, so that the run can only
crash itself; so do all runs of its job until a run of that job has ended without a crash.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, get_args

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.effects import Opener
from sempre.executors.log_capture import CAPTURE
from sempre.ports.executor import Ended, Executor, Isolation, Outcome, Progress, Run
from sempre.ports.tracing import RunSpan, Tracer

if TYPE_CHECKING:
    from sempre.ports.executor import Task

__all__ = ["Executors"]

_LOG = logging.getLogger("sempre.executors")
_INTERRUPTED = Outcome(Ended.INTERRUPTED, error="the worker stopped before the run ended")


class Executors:
    """An executor for every isolation.

    Attributes:
        unavailable: isolations that could not be started, each with the reason; a worker should
            claim none of their jobs. A run of such a job fails with the reason.
        private: descriptors of this process that lead to /dev/null in children; to be added before
            the start.
    """

    def __init__(
        self,
        lookup: "Callable[[str], Task]",
        *,
        isolations: Collection[Isolation] = get_args(Isolation),
        forks: bool = False,
        clock: Clock | None = None,
        broken: Callable[[str], None] | None = None,
        begun: Callable[[], None] | None = None,
        opener: Opener | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        """Make the executors that jobs need.

        Args:
            lookup: returns a task by its name, or raises KeyError; called in the child.
            isolations: the isolations of the jobs.
            forks: fork for runs that should be alone, also if no job asks for "process".
            clock: measures time limits and durations.
            broken: called with the reason if an executor can begin no run any more; the process
                should be replaced.
            begun: called once, before the first run begins.
            opener: begins the transaction of a run, in the process in which its job asks for it.
            tracer: begins the span of each run.
        """
        self.unavailable: dict[Isolation, str] = {}
        self.private: list[int] = []
        self._lookup = lookup
        self._clock = clock or SystemClock()
        self._broken = broken
        self._opener = opener
        self._begun = begun
        self._tracer = tracer
        self._spans: set[RunSpan] = set()
        self._wanted = frozenset(isolations)
        made = self._wanted | {"process"} if forks else self._wanted
        self._executors = {kind: self._made(kind) for kind in _IN_ORDER if kind in made}
        # Jobs whose last run after a crash has crashed again, or has not ended yet.
        self._suspects: set[str] = set()
        self._has_warned = False
        self._captures = False

    def start(self) -> None:
        """Start the executors; a failed isolation is `unavailable`, and a warning gives the reason.

        The process executor forks, so call this before this process has threads.
        """
        # Before the fork: children inherit the handler.
        if not self._captures:
            self._captures = True
            CAPTURE.start()
        for isolation, executor in [*self._executors.items()]:
            try:
                executor.start()
            except (OSError, Refused) as error:
                if isolation in self._wanted:
                    _LOG.warning("no job can run with isolation=%r here: %s", isolation, error)
                self.unavailable[isolation] = str(error)
                del self._executors[isolation]

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread."""
        if self._begun is not None:
            self._begun()
            self._begun = None
        if self._captures:
            CAPTURE.ensure()
        if self._tracer is not None and (span := self._tracer.begin_run(run)) is not None:
            run, done = run._replace(span=span), self._traced(span, done)
        isolation = run.task.isolation
        if run.is_alone or run.task.name in self._suspects:
            isolation, done = self._apart(run), self._watched(run.task.name, done)
        executor = self._executors.get(isolation)
        if executor is None:
            why = self.unavailable.get(isolation, "this worker was made without it")
            error = f"isolation={isolation!r} is not available: {why}"
            done(run, Outcome(Ended.FAILED, error=error))
        else:
            executor.submit(run, done)

    def _apart(self, run: Run) -> Isolation:
        """Return the isolation of a suspect: a process of its own if this process can fork."""
        if "process" in self._executors:
            self._suspects.add(run.task.name)
            return "process"
        if not self._has_warned:
            self._has_warned = True
            _LOG.warning(
                "%s was in flight when its process died, and runs again beside other runs: this "
                "process cannot fork; `sempre worker` can",
                run.execution.snapshot.name,
            )
        return run.task.isolation

    def _watched(
        self, job: str, done: Callable[[Run, Outcome], None]
    ) -> Callable[[Run, Outcome], None]:
        """Return a `done` that clears the job of suspicion if its run has not crashed."""

        def clear_and_report(run: Run, outcome: Outcome) -> None:
            if outcome.ended is not Ended.CRASHED:
                self._suspects.discard(job)
            done(run, outcome)

        return clear_and_report

    def _traced(
        self, span: RunSpan, done: Callable[[Run, Outcome], None]
    ) -> Callable[[Run, Outcome], None]:
        """Return a `done` that ends the span of a run first."""
        self._spans.add(span)

        def end_and_report(run: Run, outcome: Outcome) -> None:
            self._spans.discard(span)
            span.end(outcome)
            done(run, outcome)

        return end_and_report

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False for an unknown run. A thread can only be asked, not ended."""
        asked = [each.cancel(execution_id, reason=reason) for each in self._executors.values()]
        return any(asked)

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of each run that has reported some, by execution id."""
        progress: dict[str, Progress] = {}
        for executor in self._executors.values():
            progress.update(executor.progress())
        return progress

    def logs(self) -> Mapping[int, str]:
        """Return the log of each run that has logged, by fence."""
        logs: dict[int, str] = {}
        for executor in self._executors.values():
            logs.update(executor.logs())
        return logs

    @property
    def stuck(self) -> int:
        """Number of runs with a reported outcome that still occupy a thread, task or process."""
        return sum(executor.stuck for executor in self._executors.values())

    def stop(self) -> None:
        """End all runs at once without calling `done`, and release all resources."""
        for executor in self._executors.values():
            executor.stop()
        while self._spans:
            self._spans.pop().end(_INTERRUPTED)
        if self._captures:
            self._captures = False
            CAPTURE.stop()

    def _made(self, isolation: Isolation) -> Executor:
        # Imported on demand: `current()` must not cost the import of asyncio.
        if isolation == "thread":
            from sempre.executors.threads import ThreadExecutor  # noqa: PLC0415

            return ThreadExecutor(clock=self._clock, opener=self._opener)
        if isolation == "async":
            from sempre.executors.event_loop import AsyncExecutor  # noqa: PLC0415

            return AsyncExecutor(clock=self._clock, opener=self._opener)
        from sempre.executors.process import ProcessExecutor  # noqa: PLC0415

        return ProcessExecutor(
            self._lookup,
            clock=self._clock,
            broken=self._broken,
            opener=self._opener,
            private=self.private,
            tracer=self._tracer,
        )


# The executor that forks comes first: the other executors start threads.
_IN_ORDER: tuple[Isolation, ...] = ("process", "async", "thread")
