"""The worker's side of runs in child processes: begins them, and has them ended."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from sempre.clock import Clock, SystemClock
from sempre.errors import Refused
from sempre.executors.calling import cancelled
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.process.child import Births, call_of
from sempre.executors.process.children import ChildFlight, Children
from sempre.executors.process.descriptors import cut_after_fork
from sempre.executors.process.frames import packed
from sempre.executors.process.limits import Limits
from sempre.executors.process.listener import BOTH_DIED, DIED, Listener
from sempre.executors.process.nurseries import Nurseries
from sempre.executors.process.verdicts import Verdicts
from sempre.ports.executor import Ended, Outcome, Progress, Run, Task

__all__ = ["ProcessExecutor"]

_UNBORN = "it could not begin: its process ended at once"


class ProcessExecutor:
    """An executor that forks one child for each run.

    A child that crashes, is killed or eats its memory harms nobody else. One whose time is over,
    or that is cancelled, gets SIGTERM and after `grace` SIGKILL, each with everything it started;
    it is told of when it is gone. The nursery does that, so that a limit holds also while a job in
    a thread of the worker holds the interpreter. If the worker dies, its children are killed.

    A child begins as a copy of what this process was at the start: with the same modules and the
    same jobs, but connections that were open then must not be used, so `after_fork` opens new
    ones. A random generator other than Python's own begins in the same state in every child.
    """

    def __init__(
        self,
        lookup: Callable[[str], Task],
        *,
        after_fork: Iterable[Callable[[], object]] = (),
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        broken: Callable[[str], None] | None = None,
        opener: Opener | None = None,
        private: Collection[int] = (),
    ) -> None:
        """Make an executor; `lookup` returns a task by name, or raises KeyError.

        If it can begin no run any more, `broken` is called with the reason. The `private`
        descriptors of this process lead nowhere in children, nor in what jobs fork here.
        """
        self._private = private
        self._broken = broken
        self._clock = clock or SystemClock()
        seconds = grace.total_seconds()
        births = Births(lookup, tuple(after_fork), self._clock, opener)
        self._nurseries = Nurseries(births, Limits(self._clock, seconds), private)
        self._children = Children(lambda: self._nurseries.active)
        self._verdicts = Verdicts(self._clock, seconds, self._call)
        self._listener: Listener | None = None
        self._stopped = False

    def start(self) -> None:
        """Fork the nursery, then begin to listen to it.

        Raises:
            Refused: this process has threads already.
        """
        if self._listener is None:
            handle = self._nurseries.start()
            # After the fork, as its descriptors are for this process alone.
            self._listener = Listener(self._nurseries, self._children, self._verdicts, self._broken)
            cut_after_fork(self._descriptors)
            self._listener.start(handle)

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run and return at once; `done` is called exactly once, from any thread.

        Raises:
            Refused: the executor was not started, or was stopped.
        """
        if self._listener is None or self._stopped:
            raise Refused("the executor is not running: start() it first, and submit before stop()")
        if self._nurseries.active is None:
            # No fault of the job's, so it is not to cost one of its tries.
            done(run, Outcome(Ended.CRASHED, error=f"it could not begin: {BOTH_DIED}"))
            return
        began = self._clock.elapsed()
        over_at = None if run.timeout is None else began + run.timeout.total_seconds()
        current = Current.of(run, began=began, clock=self._clock, link=Link())
        flight = ChildFlight(run, done, current, began, over_at)
        self._verdicts.begin(flight)
        if (report := self._hand_over(flight)) is not None:
            self._verdicts.end(flight, report)
        with suppress(OSError):
            # The next run will order them, if it must.
            self._children.order()

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end, with SIGTERM and later SIGKILL; False if it is unknown."""
        flights = self._verdicts.flights.of(execution_id)
        for flight in flights:
            self._verdicts.ask(flight, cancelled(reason), reason)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        return self._verdicts.flights.progress()

    @property
    def stuck(self) -> int:
        """How many children did not even end when they were killed."""
        return self._verdicts.flights.stuck

    def stop(self) -> None:
        """Kill every child with what it started, tell of none, and end the nurseries."""
        self._stopped = True
        self._verdicts.stop()
        if self._listener is not None:
            self._listener.stop(2 * self._verdicts.grace)

    def _hand_over(self, flight: ChildFlight) -> Outcome | None:
        """Give a run to a child; return how it ended if none could take it."""
        call = packed({"call": call_of(flight.run, flight.over_at)})
        try:
            with flight.lock:
                is_taken = self._children.take(flight, call)
        except ConnectionError as error:
            return Outcome(Ended.CRASHED, error=f"{DIED} ({error})")
        except OSError as error:
            return Outcome(Ended.FAILED, error=f"it could not begin: {error}")
        return None if is_taken else Outcome(Ended.CRASHED, error=_UNBORN)

    def _descriptors(self) -> list[int]:
        streams = [] if self._listener is None else self._listener.descriptors()
        return [*self._private, *streams]

    def _call(self, flight: ChildFlight) -> None:
        if self._listener is not None:
            self._listener.call(flight)
