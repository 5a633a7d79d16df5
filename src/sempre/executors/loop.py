"""Runs as tasks of one event loop, in one thread of this process.

A task that awaits can be ended: it is cancelled. One that swallows the cancellation, or never
awaits and blocks the loop, is given `grace` and then told of all the same; it counts as `stuck`
until it ends. The limits are watched from another thread, so they hold while the loop is blocked,
but nothing else on the loop moves then.
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
from sempre.errors.wording import written_length
from sempre.executors.alarm import Alarm
from sempre.executors.calling import cancelled, perform_async
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.flights import Flight, Flights, judged
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["AsyncExecutor"]

_LOG = logging.getLogger("sempre.executors")


@dataclass(eq=False)
class _TaskFlight(Flight):
    task: "asyncio.Task[None] | None" = field(default=None, init=False)
    verdict: Outcome | None = field(default=None, init=False)


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
        self._flights: Flights[_TaskFlight] = Flights(self._clock)
        self._alarm = Alarm(self._clock)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = Event()

    def start(self) -> None:
        """Begin the loop, in a daemon thread."""
        if self._loop is not None:
            return
        self._loop = asyncio.new_event_loop()
        thread = Thread(target=self._turn, args=(self._loop,), name="sempre-loop", daemon=True)
        thread.start()

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was not started, or was stopped.
        """
        loop = self._running_loop()
        began = self._clock.elapsed()
        current = Current.of(run, began=began, clock=self._clock, link=Link(), opener=self._opener)
        flight = _TaskFlight(run, done, current, began)
        self._flights.add(flight)
        if run.timeout is not None:
            verdict = Outcome(
                Ended.TIMED_OUT, error=f"timed out after {written_length(run.timeout)}"
            )
            at = flight.began + run.timeout.total_seconds()
            self._alarm.set(flight, at, lambda: self._ask(flight, verdict, "its time is over"))
        loop.call_soon_threadsafe(self._begin, flight)

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Cancel the task of a run; False if it is unknown."""
        flights = self._flights.of(execution_id)
        for flight in flights:
            self._ask(flight, cancelled(reason), reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        return self._flights.progress()

    @property
    def stuck(self) -> int:
        """How many tasks were told of and have not ended."""
        return self._flights.stuck

    def stop(self) -> None:
        """Cancel every task, tell of none, and end the loop.

        A loop that is blocked, or tasks that do not end within the grace, die with the process.
        """
        self._alarm.stop()
        self._flights.abandon()
        loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(RuntimeError):  # it is closed already
                loop.call_soon_threadsafe(loop.stop)
            self._ended.wait(2 * self._grace)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise Refused("the executor is not running: start() it first, and submit before stop()")
        return self._loop

    def _begin(self, flight: _TaskFlight) -> None:
        if flight.verdict is not None:
            # It was cancelled before it began.
            self._end(flight, flight.verdict)
            return
        # A context of its own: what a job sets is gone with it.
        loop = asyncio.get_running_loop()
        flight.task = loop.create_task(self._fly(flight), context=Context())
        flight.task.add_done_callback(lambda task: self._landed(flight, task))

    async def _fly(self, flight: _TaskFlight) -> None:
        report = await perform_async(flight.run.task, flight.current)
        self._end(flight, judged(report, flight.verdict))

    def _landed(self, flight: _TaskFlight, task: "asyncio.Task[None]") -> None:
        # A task that is cancelled before its first step never comes to tell of itself.
        if task.cancelled():
            by_others = Outcome(Ended.FAILED, error="CancelledError: cancelled before it began")
            self._end(flight, flight.verdict or by_others)

    def _end(self, flight: _TaskFlight, report: Outcome) -> None:
        self._alarm.forget(flight)
        self._flights.end(flight, report)

    def _ask(self, flight: _TaskFlight, verdict: Outcome, reason: str) -> None:
        """Cancel a task now, and tell of it after the grace whether it has ended or not."""
        loop = self._loop
        if flight.verdict is not None or loop is None:
            return
        flight.verdict = verdict
        flight.current.link.cancel(reason)
        at = self._clock.elapsed() + self._grace
        self._alarm.set(flight, at, lambda: self._flights.give_up(flight, verdict))
        loop.call_soon_threadsafe(self._cancel, flight)

    @staticmethod
    def _cancel(flight: _TaskFlight) -> None:
        if flight.task is not None:
            flight.task.cancel()

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while self._loop is loop:
            try:
                loop.run_forever()
            except BaseException:  # noqa: BLE001 - asyncio lets a task's SystemExit through
                _LOG.exception("a task of a job tried to end the event loop")
        try:
            loop.run_until_complete(self._clear())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
            self._ended.set()

    async def _clear(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)
