"""Runs in threads of this process: cheap, and only as well behaved as the jobs.

A thread cannot be ended. A job that hangs is told of as timed out, and its thread counts as
`stuck` until the job returns; one that crashes the interpreter takes the process along. Whoever
cannot live with that uses process isolation.
"""

from collections.abc import Callable, Mapping
from contextvars import Context
from datetime import timedelta
from queue import SimpleQueue
from threading import Lock, Thread, local

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.errors.wording import written_length
from sempre.executors.alarm import Alarm
from sempre.executors.calling import perform
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.flights import Flight, Flights
from sempre.executors.turns import Turns
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["ThreadExecutor"]


class _Own(local):
    """What belongs to one thread: whether it tells of an end, and what it does next."""

    tells = False
    next: Flight | None = None


class ThreadExecutor:
    """An executor in daemon threads, so that the process it is embedded in can always exit.

    Every run begins at once: in an idle thread, or in a new one. How many run at a time is the
    engine's decision, which knows the stuck ones.
    """

    def __init__(
        self, *, clock: Clock | None = None, idle: int = 32, opener: Opener | None = None
    ) -> None:
        """Make an executor that keeps at most `idle` threads waiting for work."""
        self._opener = opener
        self._clock = clock or SystemClock()
        self._flights: Flights[Flight] = Flights(self._clock)
        self._alarm = Alarm(self._clock)
        self._lock = Lock()
        self._waiting: SimpleQueue[Flight | None] = SimpleQueue()
        self._idle = 0
        self._most_idle = idle
        self._stopped = False
        # What a thread has been handed while it told of a run that ended: it goes on with that.
        self._own = _Own()
        self._turns = Turns()

    def start(self) -> None:
        """Get ready; threads begin with the runs."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was stopped.
        """
        if self._stopped:
            raise Refused("the executor was stopped; nothing can be submitted to it any more")
        began = self._clock.elapsed()
        current = Current.of(run, began=began, clock=self._clock, link=Link(), opener=self._opener)
        flight = Flight(run, done, current, began)
        self._flights.add(flight)
        try:
            if run.timeout is not None:
                at = flight.began + run.timeout.total_seconds()
                self._alarm.set(flight, at, lambda: self._time_out(flight))
            self._begin(flight)
        except RuntimeError as error:
            self._alarm.forget(flight)
            self._flights.end(flight, Outcome(Ended.FAILED, error=f"it could not begin: {error}"))

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; False if it is unknown. One that never looks runs on."""
        flights = self._flights.of(execution_id)
        for flight in flights:
            flight.current.link.cancel(reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        return self._flights.progress()

    @property
    def stuck(self) -> int:
        """How many threads are occupied by runs that have timed out."""
        return self._flights.stuck

    def stop(self) -> None:
        """Ask every run to end and tell of none; threads that do not listen die with the process.

        The idle ones end at once.
        """
        self._alarm.stop()
        with self._lock:
            self._stopped = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._waiting.put(None)
        for flight in self._flights.abandon():
            flight.current.link.cancel("the worker stops")

    def _begin(self, flight: Flight) -> None:
        if self._own.tells and self._own.next is None:
            self._own.next = flight
            return
        with self._lock:
            is_taken = self._idle > 0
            if is_taken:
                # The one who counts it down owns the thread: exactly one will take this.
                self._idle -= 1
        if is_taken:
            self._waiting.put(flight)
        else:
            Thread(target=self._work, args=(flight,), name="sempre-run", daemon=True).start()

    def _work(self, flight: Flight | None) -> None:
        while flight is not None:
            self._go_on(flight)
            # Not held while waiting: a run may be large.
            del flight
            flight = self._waiting.get() if self._keep() else None

    def _go_on(self, flight: Flight) -> None:
        """Do a run, then what was submitted when it was told of, and so on."""
        following: Flight | None = flight
        with self._turns.taking() as turns:
            while following is not None:
                flight = following
                turns.wait()
                began = self._clock.elapsed()
                # A context of its own: what a job sets is gone with it.
                report = Context().run(perform, flight.run.task, flight.current)
                turns.note(self._clock.elapsed() - began)
                self._alarm.forget(flight)
                following = self._tell(flight, report)

    def _tell(self, flight: Flight, report: Outcome) -> Flight | None:
        """Tell of a run that has ended; return what was submitted meanwhile for this thread."""
        self._own.tells, self._own.next = True, None
        try:
            self._flights.end(flight, report)
            return self._own.next
        finally:
            self._own.tells, self._own.next = False, None

    def _keep(self) -> bool:
        with self._lock:
            if self._stopped or self._idle >= self._most_idle:
                return False
            self._idle += 1
            return True

    def _time_out(self, flight: Flight) -> None:
        limit = written_length(flight.run.timeout or timedelta(0))
        error = f"timed out after {limit}; its thread goes on until the job returns"
        self._flights.give_up(flight, Outcome(Ended.TIMED_OUT, error=error))
        # Only now, or a job that listens well would be told of as cancelled.
        flight.current.link.cancel("its time is over")
