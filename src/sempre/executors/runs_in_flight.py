"""The runs that an executor has begun, their time limits, and their outcomes: one for each run.

A run may end by itself, by its time limit or by a request, and two of these may happen at the same
moment in two threads. One lock decides which end counts. Runs whose outcome was reported while
they still occupy their thread, task or process count as stuck.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import Generic, TypeVar

from sempre.clock import Clock
from sempre.domain.exception_types import type_names
from sempre.errors.wording import written_length
from sempre.executors.current import Current
from sempre.executors.timeouts import Timeouts
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["TIMEOUT", "RunInFlight", "RunsInFlight", "timed_out"]

_LOG = logging.getLogger("sempre.executors")
# For a retry policy, the end of the time is a TimeoutError.
TIMEOUT = type_names(TimeoutError)


@dataclass(eq=False)
class RunInFlight:
    """One run that has begun.

    Attributes:
        run: the run.
        done: called with the outcome.
        current: the run as its job sees it.
        began: when the run began, by the clock's `elapsed`.
        verdict: the outcome of a run that was asked to end; see `RunsInFlight.decide`.
        is_reported: whether the outcome was reported.
    """

    run: Run
    done: Callable[[Run, Outcome], None]
    current: Current
    began: float
    verdict: Outcome | None = field(default=None, init=False)
    is_reported: bool = field(default=False, init=False)


R = TypeVar("R", bound=RunInFlight)


class RunsInFlight(Generic[R]):
    """The runs whose outcome was not reported yet, and the stuck runs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._timeouts = Timeouts(clock)
        self._open: set[R] = set()
        self._stuck: set[R] = set()

    def add(self, flight: R) -> None:
        """Count a run from now on."""
        with self._lock:
            self._open.add(flight)

    def call_at(self, instant: float, flight: R, action: Callable[[], object]) -> None:
        """Call an action at a point of `elapsed` unless the run has ended, in place of the last."""
        self._timeouts.set(flight, instant, action)

    def decide(self, flight: R, verdict: Outcome) -> bool:
        """Decide the outcome of a run that is asked to end; False if it is decided already.

        A run that succeeds despite the request counts as succeeded, unless its time was over.
        """
        with self._lock:
            if flight.verdict is not None or flight.is_reported:
                return False
            flight.verdict = verdict
            return True

    def end(self, flight: R, outcome: Outcome) -> None:
        """Report the outcome of a run that has ended, unless an outcome was reported before."""
        self._timeouts.forget(flight)
        with self._lock:
            self._open.discard(flight)
            self._stuck.discard(flight)
            is_first, flight.is_reported = not flight.is_reported, True
        if is_first:
            self._report(flight, _judge(outcome, flight.verdict))

    def give_up(self, flight: R, outcome: Outcome) -> None:
        """Report the outcome of a run that does not end, and count it as stuck."""
        with self._lock:
            is_first, flight.is_reported = not flight.is_reported, True
            if is_first:
                self._open.discard(flight)
                self._stuck.add(flight)
        if is_first:
            # The transaction of the run must not hold up the record of its end.
            flight.current.effects.release()
            self._report(flight, outcome)

    def abandon(self) -> list[R]:
        """Return the runs in flight; their outcomes are not reported, and time limits end."""
        self._timeouts.stop()
        with self._lock:
            left = [*self._open]
            for flight in left:
                flight.is_reported = True
            self._open.clear()
            self._stuck.clear()
        for flight in left:
            flight.current.effects.release()
        return left

    def of(self, execution_id: str) -> list[R]:
        """Return the runs of an execution; a lost execution that was claimed again may have two."""
        with self._lock:
            return [flight for flight in self._open if flight.run.execution.id == execution_id]

    def progress(self) -> Mapping[str, Progress]:
        """Return the progress of each run that has reported some, by execution id."""
        with self._lock:
            flights = [*self._open]
        found = ((flight.run.execution.id, flight.current.link.progress) for flight in flights)
        return {identity: progress for identity, progress in found if progress}

    def logs(self) -> Mapping[int, str]:
        """Return the log of each run that has logged, by fence."""
        with self._lock:
            flights = [*self._open]
        found = ((flight.run.execution.fence, flight.current.link.log) for flight in flights)
        return {fence: log for fence, log in found if log}

    @property
    def stuck(self) -> int:
        """How many runs have a reported outcome but have not ended."""
        return len(self._stuck)

    def _report(self, flight: R, outcome: Outcome) -> None:
        seconds = self._clock.elapsed() - flight.began
        try:
            log = flight.current.link.log
            flight.done(flight.run, outcome._replace(seconds=seconds, log=log))
        except Exception:  # noqa: BLE001 - a mistake of the engine must not end this thread
            _LOG.exception("reporting the outcome of %s failed", flight.run.execution.id)


def timed_out(run: Run, note: str = "") -> Outcome:
    """Return the outcome of a run whose time is over."""
    limit = written_length(run.timeout or timedelta(0))
    return Outcome(Ended.TIMED_OUT, error=f"timed out after {limit}{note}", types=TIMEOUT)


def _judge(outcome: Outcome, verdict: Outcome | None) -> Outcome:
    if verdict is None:
        return outcome
    is_late = verdict.ended is Ended.TIMED_OUT
    return outcome if outcome.ended is Ended.SUCCEEDED and not is_late else verdict
