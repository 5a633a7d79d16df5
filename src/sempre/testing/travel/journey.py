"""A journey: the real engine on virtual time, moved from one instant that matters to the next.

Nothing ticks. The clock goes to when a row is due, a run ends, the watchdog's pass is due, or a
sweep would find rows that the broker has lost; there the worker takes the usual steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from sempre.app.application import Sempre
from sempre.config import Settings
from sempre.domain.execution import Execution
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.rescuer import Rescuer
from sempre.engine.worker import Worker
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import Refused
from sempre.grids.zones import tzdata_version
from sempre.ports.messages import Pass
from sempre.testing.travel.broker import TravelBroker
from sempre.testing.travel.clock import TravelClock
from sempre.testing.travel.executor import InlineExecutor
from sempre.testing.travel.store import TravelStore

__all__ = ["Journey"]

# Renewed at every pass; the sweeps that matter are those of the application's own settings.
LEASE = timedelta(days=366)
SWEEP = LEASE / 2
# A pass that finds nothing to heal only announces rows that have come within the horizon.
RARELY = timedelta(hours=24)
HANDS = 10_000
LOOK = 200
MOST_TURNS = 2_000


class Journey:
    """An engine with one worker, a store, a broker and a clock."""

    def __init__(self, app: Sempre, start: datetime, *, call_jobs: bool) -> None:
        """Begin at an instant, with an empty store."""
        self.clock = TravelClock(start)
        self.store = TravelStore(self.clock)
        self.executor = InlineExecutor(self.clock, call_jobs=call_jobs)
        self._app = app
        self._start = start
        self._broker = TravelBroker(self.clock)
        settings = _unhurried(app.settings)
        bell = Bell(
            self.store,
            self._broker,
            horizon=settings.horizon,
            clock=self.clock,
            events=app.events,
        )
        self.engine = Engine(self.store, bell, settings, self.clock, app.events, tzdata_version())
        self._every = settings.watchdog_interval
        self._worker: Worker | None = None
        # Whether a sweep has found nothing to begin since something last happened.
        self._swept = False
        self._sweep_at: datetime | None = None

    def begin(self) -> None:
        """Let a worker begin, and the first pass of the watchdog find nothing yet."""
        self.worker.maintenance.watchdog.perform()

    def travel_to(self, instant: datetime) -> None:
        """Let time pass until an instant, and run all work that is due up to and at that instant.

        Raises:
            Refused: more begins at one instant than any application means to.
        """
        self._swept = False
        self._act()
        while (stop := self._next_stop()) <= instant:
            self.clock.move_to(stop)
            self._act()
        self.clock.move_to(instant)

    def lose_broker(self) -> None:
        """Lose every ticket; the watchdog notices at the next pass, sweeps find the work."""
        self._broker.forget()
        self.store.call_pass(self.clock.now() + self._app.settings.watchdog_interval)

    def outage(self, duration: timedelta) -> None:
        """Let the worker crash, time pass without one, and a new one begin."""
        worker, self._worker = self._worker, None
        self.executor.stop()
        if worker is not None:
            self.store.retire(worker.heartbeat.session)
        self.clock.move_to(self.clock.now() + duration)
        rescuer = Rescuer(self.engine)
        while rescuer.rescue():
            pass  # A call rescues a bounded number of executions.
        self.travel_to(self.clock.now())

    # How

    @property
    def worker(self) -> Worker:
        """The worker; the session begins at the first access."""
        if self._worker is None:
            spec = WorkerSpec(self._app.tasks, frozenset({"default"}), HANDS)
            self._worker = Worker(self.engine, spec, self.executor)
            self._worker.heartbeat.register()
            self._worker.fetcher.tickets.tests.attend()
        return self._worker

    def _act(self) -> None:
        """Take every step of a worker that is due at this instant."""
        known = self.executor.begun
        # The worker listens all the time, though it takes its steps only where something is due.
        self.worker.fetcher.tickets.tests.listened(until=self.clock.elapsed())
        self._record()
        self._heal()
        self._sweep()
        for turn in count():
            if not self._broker.has_due:
                break
            self.worker.fetch(patience=0)
            self._settle(turn)
        self._swept = self._swept and self.executor.begun == known
        self.store.file_away()

    def _record(self) -> None:
        """Record runs that have ended or that are asked to end."""
        if self.executor.ends:
            self.executor.land()
            self.worker.settle()
            self.worker.beat()
            self.executor.land()
            self._swept = False
            self.worker.settle()

    def _heal(self) -> None:
        """Run the watchdog's pass if the pass is due."""
        if Pass(self.store.pass_due_at).is_due(self.clock.now(), self._every):
            self.worker.beat()
            self.worker.maintenance.watchdog.perform()

    def _sweep(self) -> None:
        """Query the store, if a sweep is due, for work that the broker does not deliver."""
        if self._sweep_at is None or self._sweep_at > self.clock.now():
            return
        self._swept = True
        # Switches whose time is over are on again by this.
        self.worker.beat()
        session, fetcher = self.worker.heartbeat.session, self.worker.fetcher
        for turn in count():
            if not fetcher.scan(session=session, limit=LOOK):
                break
            self._settle(turn)

    def _settle(self, turn: int) -> None:
        self.worker.settle()
        if turn > MOST_TURNS:
            message = f"what is due at {self.clock.now()} has no end"
            raise Refused(f"{message}; does a job enqueue itself without a delay?")

    def _next_stop(self) -> datetime:
        """Return the next instant at which there is something to do."""
        now = self.clock.now()
        due = self.store.next_due_at(now)
        sweeps = [each for row in self.store.overdue(now) for each in self._sweeps_for(row, now)]
        sweeps += map(self._sweep_after, self.store.switch_ends(now))
        self._sweep_at = min(sweeps, default=None)
        stops = [self.store.pass_due_at, *self.executor.ends, *sweeps]
        return min(stops if due is None else [due, *stops])

    def _sweeps_for(self, row: Execution, now: datetime) -> Iterator[datetime]:
        """Yield when a sweep may do something about a row that is due and was not begun."""
        if row.held_by:
            return
        if not self._swept:
            yield self._sweep_after(now)
        deadline = row.snapshot.deadline
        if deadline is not None and row.is_untried and now <= row.due_at + deadline:
            yield self._sweep_after(row.due_at + deadline)

    def _sweep_after(self, instant: datetime) -> datetime:
        sweep = self._app.settings.sweep
        return self._start + ((instant - self._start) // sweep + 1) * sweep


def _unhurried(settings: Settings) -> Settings:
    """Return settings by which a worker with rare heartbeats keeps the session."""
    rarely = max(settings.watchdog_interval, min(RARELY, settings.horizon))
    return replace(settings, lease=LEASE, beat=LEASE / 3, sweep=SWEEP, watchdog_interval=rarely)
