"""Runs in threads of this process: cheap, and only as well behaved as the jobs.

A thread cannot be ended. A job that hangs is reported as timed out, and its thread counts as
`stuck` until the job returns. A job that crashes the interpreter ends the process. Process
isolation prevents both.
"""

from collections.abc import Callable, Mapping
from contextvars import Context
from queue import SimpleQueue
from threading import Lock, Thread, local

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.current import Current
from sempre.executors.effects import Opener
from sempre.executors.gil_turns import GilTurns
from sempre.executors.job_call import call_job
from sempre.executors.link import Link
from sempre.executors.runs_in_flight import RunInFlight, RunsInFlight, timed_out
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["ThreadExecutor"]

MOST_IDLE = 32


class _ThreadState(local):
    """The state of one thread: whether it reports an outcome, and the run that comes next."""

    is_reporting = False
    next: RunInFlight | None = None


class ThreadExecutor:
    """An executor in daemon threads, so that the process that embeds the executor can always exit.

    Every run begins at once: in an idle thread or in a new thread. The engine, which knows the
    stuck runs, limits the number of runs at a time.
    """

    def __init__(self, *, clock: Clock | None = None, opener: Opener | None = None) -> None:
        """Make an executor without threads; later at most MOST_IDLE threads wait for runs."""
        self._opener = opener
        self._clock = clock or SystemClock()
        self._flights: RunsInFlight[RunInFlight] = RunsInFlight(self._clock)
        self._lock = Lock()
        self._waiting: SimpleQueue[RunInFlight | None] = SimpleQueue()
        self._idle = 0
        self._stopped = False
        # A run that is submitted while a thread reports an outcome goes to that very thread.
        self._own = _ThreadState()
        self._turns = GilTurns()

    def start(self) -> None:
        """Do nothing: threads begin with the runs."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was stopped.
        """
        if self._stopped:
            raise Refused("the executor was stopped; nothing can be submitted to it any more")
        began = self._clock.elapsed()
        current = Current.of(run, began=began, clock=self._clock, link=Link(), opener=self._opener)
        flight = RunInFlight(run, done, current, began)
        self._flights.add(flight)
        try:
            if run.timeout is not None:
                at = began + run.timeout.total_seconds()
                self._flights.call_at(at, flight, lambda: self._time_out(flight))
            self._begin(flight)
        except RuntimeError as error:
            self._flights.end(flight, Outcome(Ended.FAILED, error=f"it could not begin: {error}"))

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False for an unknown run. A job that never checks runs on."""
        flights = self._flights.of(execution_id)
        for flight in flights:
            flight.current.link.cancel(reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of each run that has reported some, by execution id."""
        return self._flights.progress()

    def logs(self) -> Mapping[int, str]:
        """Return the log of each run that has logged, by fence."""
        return self._flights.logs()

    @property
    def stuck(self) -> int:
        """How many threads are occupied by runs that have timed out."""
        return self._flights.stuck

    def stop(self) -> None:
        """Ask every run to end and report none; idle threads end at once.

        Threads whose jobs do not end die with the process.
        """
        with self._lock:
            self._stopped = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._waiting.put(None)
        for flight in self._flights.abandon():
            flight.current.link.cancel("the worker stops")

    def _begin(self, flight: RunInFlight) -> None:
        if self._own.is_reporting and self._own.next is None:
            self._own.next = flight
            return
        with self._lock:
            has_idle = self._idle > 0
            if has_idle:
                # Counted down under the lock: exactly one idle thread is left for this run.
                self._idle -= 1
        if has_idle:
            self._waiting.put(flight)
        else:
            Thread(target=self._work, args=(flight,), name="sempre-run", daemon=True).start()

    def _work(self, flight: RunInFlight | None) -> None:
        while flight is not None:
            self._go_on(flight)
            # Not held while waiting: a run may be large.
            del flight
            flight = self._waiting.get() if self._becomes_idle() else None

    def _go_on(self, flight: RunInFlight) -> None:
        """Do a run, then the run that was submitted when its outcome was reported, and so on."""
        following: RunInFlight | None = flight
        with self._turns.taking() as turns:
            while following is not None:
                flight = following
                turns.wait()
                began = self._clock.elapsed()
                # A new context for each run: context variables that a job sets end with the run.
                outcome = Context().run(call_job, flight.run.task, flight.current)
                turns.note(self._clock.elapsed() - began)
                following = self._report(flight, outcome)

    def _report(self, flight: RunInFlight, outcome: Outcome) -> RunInFlight | None:
        """Report an outcome; return the run that was submitted meanwhile for this thread."""
        self._own.is_reporting, self._own.next = True, None
        try:
            self._flights.end(flight, outcome)
            return self._own.next
        finally:
            self._own.is_reporting, self._own.next = False, None

    def _becomes_idle(self) -> bool:
        with self._lock:
            if self._stopped or self._idle >= MOST_IDLE:
                return False
            self._idle += 1
            return True

    def _time_out(self, flight: RunInFlight) -> None:
        outcome = timed_out(flight.run, "; its thread goes on until the job returns")
        self._flights.give_up(flight, outcome)
        # Only now: a job that ends on request would be reported as cancelled.
        flight.current.link.cancel("its time is over")
