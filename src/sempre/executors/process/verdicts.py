"""How runs in children end: decided once for each, whichever thread finds out first.

The nursery keeps the time limits and ends the children. Here is decided what their end means.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from sempre.clock import Clock
from sempre.errors.wording import written_length
from sempre.executors.alarm import Alarm
from sempre.executors.flights import Flights, judged
from sempre.executors.process.children import Child, ChildFlight
from sempre.executors.process.frames import packed
from sempre.executors.process.orders import END, order
from sempre.ports.executor import Ended, Outcome

__all__ = ["Verdicts"]


class Verdicts:
    """The runs in flight in children, and how each is to end. Any thread may call it.

    Attributes:
        flights: the runs.
        grace: how many seconds a child that was asked to end is given to do so.
    """

    def __init__(
        self, clock: Clock, grace: float, overdue: Callable[[ChildFlight], object]
    ) -> None:
        """Begin without runs; `overdue` is called for one that nothing has ended."""
        self.flights: Flights[ChildFlight] = Flights(clock)
        self.grace = grace
        self._clock = clock
        self._alarm = Alarm(clock)
        self._overdue = overdue

    def begin(self, flight: ChildFlight) -> None:
        """Count a run from now on."""
        self.flights.add(flight)
        if flight.over_at is not None:
            self._give_up_after(flight, flight.over_at + 2 * self.grace)

    def end(self, flight: ChildFlight, report: Outcome) -> None:
        """Tell how a run has ended, unless that was told before."""
        self._alarm.forget(flight)
        self.flights.end(flight, judged(report, flight.verdict))

    def ask(self, flight: ChildFlight, verdict: Outcome, reason: str) -> None:
        """Let the nursery end a run: by SIGTERM, and after the grace by SIGKILL."""
        child = self._judge(flight, verdict, reason)
        if child is not None:
            with suppress(OSError):
                child.nursery.send(order(END, child.number))
            self._give_up_after(flight, self._clock.elapsed() + 2 * self.grace)

    def expire(self, flight: ChildFlight) -> None:
        """Note that the nursery has found the time of a run to be over, and ends it."""
        self._judge(flight, _timed_out(flight), "its time is over")

    def is_over(self, flight: ChildFlight) -> bool:
        """Tell whether the time of a run is over, by our own clock."""
        return flight.over_at is not None and self._clock.elapsed() >= flight.over_at

    def give_up(self, flight: ChildFlight) -> None:
        """Tell of a run that nothing has ended, unless it was told of."""
        self.flights.give_up(flight, flight.verdict or _timed_out(flight))

    def stop(self) -> None:
        """Tell of no run any more."""
        self._alarm.stop()
        self.flights.abandon()

    def _judge(self, flight: ChildFlight, verdict: Outcome, reason: str) -> Child | None:
        """Decide how a run ends, and tell its job why; None if that is decided already."""
        with flight.lock:
            child = flight.child
            if child is None or flight.verdict is not None or flight.is_told:
                return None
            flight.verdict = verdict
        child.hint(packed({"cancel": reason}))
        return child

    def _give_up_after(self, flight: ChildFlight, at: float) -> None:
        """Wait until then for a child that ends, and no longer.

        Not even SIGKILL ends a process which waits for a broken disk. A nursery may be stopped.
        """
        self._alarm.set(flight, at, lambda: self._overdue(flight))


def _timed_out(flight: ChildFlight) -> Outcome:
    limit = written_length(flight.run.timeout or timedelta(0))
    return Outcome(Ended.TIMED_OUT, error=f"timed out after {limit}")
