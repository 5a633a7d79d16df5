"""Runs as tasks of one event loop, in one thread of this process.

A cancellation ends a task that awaits. A task that swallows the cancellation, or never awaits and
blocks the loop, gets `grace`; after the grace its outcome is reported, and the task counts as
`stuck` until its end. Another thread watches the time limits, so the limits hold while the loop is
blocked, but no other task of the loop moves then.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event, Thread

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.current import Current
from sempre.executors.effects import Opener
from sempre.executors.job_call import call_async_job, cancelled
from sempre.executors.link import Link
from sempre.executors.runs_in_flight import RunInFlight, RunsInFlight, timed_out
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["AsyncExecutor"]

_LOG = logging.getLogger("sempre.executors")


@dataclass(eq=False)
class _TaskInFlight(RunInFlight):
    task: "asyncio.Task[None] | None" = field(default=None, init=False)


class AsyncExecutor:
    """An executor of `async def` jobs; a `def` job would block the loop while it runs."""

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        opener: Opener | None = None,
    ) -> None:
        """Make an executor that gives a cancelled task `grace` to end by itself."""
        self._opener = opener
        self._clock = clock or SystemClock()
        self._grace = grace.total_seconds()
        self._flights: RunsInFlight[_TaskInFlight] = RunsInFlight(self._clock)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = Event()

    def start(self) -> None:
        """Begin the loop, in a daemon thread."""
        if self._loop is not None:
            return
        self._loop = asyncio.new_event_loop()
        thread = Thread(target=self._run_loop, args=(self._loop,), name="sempre-loop", daemon=True)
        thread.start()

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was not started, or was stopped.
        """
        loop = self._running_loop()
        began = self._clock.elapsed()
        current = Current.of(run, began=began, clock=self._clock, link=Link(), opener=self._opener)
        flight = _TaskInFlight(run, done, current, began)
        self._flights.add(flight)
        if run.timeout is not None:
            verdict, at = timed_out(run), began + run.timeout.total_seconds()
            self._flights.call_at(
                at, flight, lambda: self._ask_to_end(flight, verdict, "its time is over")
            )
        loop.call_soon_threadsafe(self._begin, flight)

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Cancel the task of a run; False for an unknown run."""
        flights = self._flights.of(execution_id)
        for flight in flights:
            self._ask_to_end(flight, cancelled(reason), reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of each run that has reported some, by execution id."""
        return self._flights.progress()

    def logs(self) -> Mapping[int, str]:
        """Return the log of each run that has logged, by fence."""
        return self._flights.logs()

    @property
    def stuck(self) -> int:
        """How many tasks have a reported outcome and have not ended."""
        return self._flights.stuck

    def stop(self) -> None:
        """Cancel every task, report none, and end the loop.

        A loop that is blocked, or tasks that do not end within the grace, die with the process.
        """
        self._flights.abandon()
        loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(loop.stop)
            self._ended.wait(2 * self._grace)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise Refused("the executor is not running: start() it first, and submit before stop()")
        return self._loop

    def _begin(self, flight: _TaskInFlight) -> None:
        if flight.verdict is not None:
            # The run was cancelled before it began.
            self._flights.end(flight, flight.verdict)
            return
        # A new context for each run: context variables that a job sets end with the run.
        loop = asyncio.get_running_loop()
        flight.task = loop.create_task(self._call(flight), context=Context())
        flight.task.add_done_callback(lambda task: self._report_early_cancel(flight, task))

    async def _call(self, flight: _TaskInFlight) -> None:
        self._flights.end(flight, await call_async_job(flight.run.task, flight.current))

    def _report_early_cancel(self, flight: _TaskInFlight, task: "asyncio.Task[None]") -> None:
        # A task that is cancelled before its first step never reports its outcome itself.
        if task.cancelled():
            by_job = Outcome(Ended.FAILED, error="CancelledError: cancelled before it began")
            self._flights.end(flight, by_job)

    def _ask_to_end(self, flight: _TaskInFlight, verdict: Outcome, reason: str) -> None:
        """Cancel a task now, and report its outcome after the grace even if the task still runs."""
        loop = self._loop
        if loop is None or not self._flights.decide(flight, verdict):
            return
        flight.current.link.cancel(reason)
        at = self._clock.elapsed() + self._grace
        self._flights.call_at(at, flight, lambda: self._flights.give_up(flight, verdict))
        loop.call_soon_threadsafe(self._cancel, flight)

    @staticmethod
    def _cancel(flight: _TaskInFlight) -> None:
        if flight.task is not None:
            flight.task.cancel()

    def _run_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while self._loop is loop:
            try:
                loop.run_forever()
            except BaseException:  # noqa: BLE001 - asyncio lets a task's SystemExit through
                _LOG.exception("a task of a job tried to end the event loop")
        try:
            loop.run_until_complete(self._cancel_tasks())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
            self._ended.set()

    async def _cancel_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)
