"""The runs of an executor that have begun: each is told of once, whoever finds out first.

A run may end by itself, by its timeout or by a request, and two of these may happen at the same
moment in two threads. One lock decides; the others find the run told of already. It also counts
the runs that were told of but still occupy their thread.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from sempre.clock import Clock
from sempre.executors.current import Current
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["Flight", "Flights", "judged"]

_LOG = logging.getLogger("sempre.executors")


@dataclass(eq=False)
class Flight:
    """One run that has begun.

    Attributes:
        run: which one.
        done: who wants to know how it ended.
        current: the run as its job sees it.
        began: when, by the clock's `elapsed`.
        is_told: whether its end was told.
    """

    run: Run
    done: Callable[[Run, Outcome], None]
    current: Current
    began: float
    is_told: bool = field(default=False, init=False)


F = TypeVar("F", bound=Flight)


def judged(report: Outcome, verdict: Outcome | None) -> Outcome:
    """Return what is told of a run that was asked to end, if it was.

    One that did its work all the same, and in time, has succeeded.
    """
    if verdict is None:
        return report
    is_late = verdict.ended is Ended.TIMED_OUT
    return report if report.ended is Ended.SUCCEEDED and not is_late else verdict


class Flights(Generic[F]):
    """The runs in flight, and those that are over for us but have not ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._open: set[F] = set()
        self._stuck: set[F] = set()

    def add(self, flight: F) -> None:
        """Count a run from now on."""
        with self._lock:
            self._open.add(flight)

    def end(self, flight: F, report: Outcome) -> bool:
        """Note that a run has ended and tell of it; False if that was done before."""
        with self._lock:
            self._open.discard(flight)
            self._stuck.discard(flight)
            first, flight.is_told = not flight.is_told, True
        if first:
            self._tell(flight, report)
        return first

    def give_up(self, flight: F, report: Outcome) -> bool:
        """Tell of a run that has not ended, and count it as stuck; False if it was told of."""
        with self._lock:
            first, flight.is_told = not flight.is_told, True
            if first:
                self._open.discard(flight)
                self._stuck.add(flight)
        if first:
            # Its transaction must not hold up the record of its end.
            flight.current.effects.release()
            self._tell(flight, report)
        return first

    def abandon(self) -> list[F]:
        """Return what is in flight, of which nothing will be told any more."""
        with self._lock:
            left = [*self._open]
            for flight in left:
                flight.is_told = True
            self._open.clear()
            self._stuck.clear()
        for flight in left:
            flight.current.effects.release()
        return left

    def of(self, execution_id: str) -> list[F]:
        """Return the runs of an execution; a lost one that was claimed again may have two."""
        with self._lock:
            return [flight for flight in self._open if flight.run.execution.id == execution_id]

    def progress(self) -> Mapping[str, Progress]:
        """Return how far the runs have come that have said so, by execution id."""
        with self._lock:
            flights = [*self._open]
        told = ((flight.run.execution.id, flight.current.link.told) for flight in flights)
        return {identity: progress for identity, progress in told if progress}

    @property
    def stuck(self) -> int:
        """How many runs were told of but have not ended."""
        return len(self._stuck)

    def _tell(self, flight: F, report: Outcome) -> None:
        seconds = self._clock.elapsed() - flight.began
        try:
            flight.done(flight.run, Outcome(*report[:4], seconds))
        except Exception:  # noqa: BLE001 - the engine's mistakes must not end our threads
            _LOG.exception("telling the outcome of %s failed", flight.run.execution.id)
