"""The executor of a journey: jobs run inline, in the thread that travels.

A run takes no virtual time, unless the test sets a duration for the job. Then the function is
called at the start, and the end is reported when the clock reaches the end of the duration.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Thread

from sempre.app.jobs import is_async
from sempre.clock import Clock
from sempre.executors.current import Current
from sempre.executors.job_call import call_async_job, call_job, cancelled
from sempre.executors.link import Link
from sempre.executors.runs_in_flight import timed_out
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["InlineExecutor"]

NOTHING = Outcome(Ended.SUCCEEDED)
ZERO = timedelta(0)


@dataclass(eq=False)
class _Flight:
    """A run whose function was called, and whose end is still to come."""

    run: Run
    done: Callable[[Run, Outcome], None]
    outcome: Outcome
    began: datetime
    ends: datetime
    link: Link = field(default_factory=Link)


class InlineExecutor:
    """Runs every job inline and ignores the isolation of the job.

    Attributes:
        takes: how long runs take, by name of the schedule or job.
        begun: how many runs were begun so far.
    """

    stuck = 0

    def __init__(self, clock: Clock, *, call_jobs: bool = True) -> None:
        """Run by a clock; without calling jobs each succeeds and has done nothing."""
        self.takes: dict[str, timedelta] = {}
        self.begun = 0
        self._clock = clock
        self._call_jobs = call_jobs
        self._flights: list[_Flight] = []
        self._runner: asyncio.Runner | None = None

    def start(self) -> None:
        """Nothing to get ready."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Call the function; report the outcome now, or when the duration of the run is over."""
        self.begun += 1
        link, now = Link(), self._clock.now()
        outcome = self._called(run, link) if self._call_jobs else NOTHING
        takes = self.takes.get(run.execution.snapshot.name) or self.takes.get(run.task.name, ZERO)
        if not takes:
            done(run, outcome)
            return
        if run.timeout is not None and run.timeout < takes:
            outcome, takes = timed_out(run), run.timeout
        self._flights.append(_Flight(run, done, outcome, now, now + takes, link))

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """End a run that has a duration; return False if no such run is open."""
        asked = [each for each in self._flights if each.run.execution.id == execution_id]
        for flight in asked:
            flight.outcome, flight.ends = cancelled(reason), self._clock.now()
        return bool(asked)

    def progress(self) -> Mapping[str, Progress]:
        """Do nothing: a journey reads no progress of runs."""
        return {}

    def logs(self) -> Mapping[int, str]:
        """Return no log: tests read what jobs log by the means of their test framework."""
        return {}

    def stop(self) -> None:
        """Drop the open runs without a report."""
        self._flights.clear()

    def close(self) -> None:
        """End the event loop of async jobs."""
        if self._runner is not None:
            _beside_any_loop(self._runner.close)
            self._runner = None

    @property
    def ends(self) -> list[datetime]:
        """The instants at which the open runs end."""
        return [flight.ends for flight in self._flights]

    def land(self) -> None:
        """Report the runs whose duration is over, in the order of their ends."""
        now = self._clock.now()
        over = sorted((each for each in self._flights if each.ends <= now), key=lambda f: f.ends)
        for flight in over:
            self._flights.remove(flight)
            seconds = (flight.ends - flight.began).total_seconds()
            flight.done(flight.run, flight.outcome._replace(seconds=seconds))

    def _called(self, run: Run, link: Link) -> Outcome:
        current = Current.of(run, began=self._clock.elapsed(), clock=self._clock, link=link)
        if is_async(run.task.function):
            outcome = self._awaited(run, current)
        else:
            # A new context per run, as in every executor: a job's variables end with the run.
            outcome = Context().run(call_job, run.task, current)
        if outcome.error.startswith("KeyboardInterrupt"):
            # Of the person who runs the tests, not of the job.
            raise KeyboardInterrupt
        return outcome

    def _awaited(self, run: Run, current: Current) -> Outcome:
        """Run a coroutine to completion on an event loop that all runs of the journey share."""
        runner = self._runner = self._runner or asyncio.Runner()
        outcomes: list[Outcome] = []

        def complete() -> None:
            outcomes.append(runner.run(call_async_job(run.task, current), context=Context()))

        _beside_any_loop(complete)
        return outcomes[0]


def _beside_any_loop(call: Callable[[], None]) -> None:
    """Call something that runs a loop; in another thread if this one runs a loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        call()
        return
    thread = Thread(target=call)
    thread.start()
    thread.join()
