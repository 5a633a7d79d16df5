"""The runs in flight in children, and how each run ends.

The fork server keeps the time limits and ends the children. The worker decides what the end of a
child means for its run.
"""

from collections.abc import Callable

from sempre.clock import Clock
from sempre.executors.process.children import Child, ChildRun
from sempre.executors.runs_in_flight import RunsInFlight, timed_out
from sempre.ports.executor import Outcome

__all__ = ["ChildRuns"]


class ChildRuns(RunsInFlight[ChildRun]):
    """The runs of a process executor. Any thread may call the methods.

    Attributes:
        grace: the seconds between SIGTERM and SIGKILL.
    """

    def __init__(self, clock: Clock, grace: float, overdue: Callable[[ChildRun], object]) -> None:
        """Begin without runs; `overdue` is called with a run that does not end in time."""
        super().__init__(clock)
        self.grace = grace
        self._overdue = overdue

    def add(self, flight: ChildRun) -> None:
        """Count a run from now on."""
        super().add(flight)
        if flight.over_at is not None:
            self._expect_end(flight, flight.over_at)

    def ask_to_end(self, flight: ChildRun, verdict: Outcome, reason: str) -> None:
        """Have the fork server end a run, by SIGTERM and after the grace by SIGKILL."""
        child = self._decide(flight, verdict, reason)
        if child is not None:
            child.end()
            self._expect_end(flight, self._clock.elapsed())

    def expire(self, flight: ChildRun) -> None:
        """Note that the time of a run is over, and that the fork server ends the run."""
        self._decide(flight, timed_out(flight.run), "its time is over")

    def is_over(self, flight: ChildRun) -> bool:
        """Return whether the time of a run is over, by the clock of the worker."""
        return flight.over_at is not None and self._clock.elapsed() >= flight.over_at

    def give_up_overdue(self, flight: ChildRun) -> None:
        """Report a run that does not end in time, unless its outcome was reported."""
        self.give_up(flight, flight.verdict or timed_out(flight.run))

    def _decide(self, flight: ChildRun, verdict: Outcome, reason: str) -> Child | None:
        """Decide how a run ends and send its job the reason; None if the end is decided already."""
        with flight.starting:
            child = flight.child
        if child is None or not self.decide(flight, verdict):
            return None
        child.cancel(reason)
        return child

    def _expect_end(self, flight: ChildRun, at: float) -> None:
        """Wait two graces for the end of a child, and no longer.

        Not even SIGKILL ends a process that waits for a broken disk. A fork server may be stopped.
        """
        self.call_at(at + 2 * self.grace, flight, lambda: self._overdue(flight))
