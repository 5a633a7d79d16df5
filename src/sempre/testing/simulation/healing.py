"""Healing: the conditions that hold once faults have stopped, and the time limit of each.

Checked after every heal, because a world that recovers once may fail to recover the next time.
"""

from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.tickets import SCHEDULER_QUEUE, Ticket, lane_of
from sempre.testing.simulation.fleet import Fleet
from sempre.testing.simulation.judge import Judge
from sempre.testing.simulation.stage import Broken, Stage
from sempre.testing.simulation.stores import WatchedStore

__all__ = ["Healing"]

BREAKER = 31.0
MARGIN = 5.0
PROMPT = 1.6


class Healing:
    """Checks a world after its faults have stopped."""

    def __init__(self, stage: Stage, store: WatchedStore, fleet: Fleet, judge: Judge) -> None:
        """Keep the parts of the world to check."""
        self._stage = stage
        self._store = store
        self._fleet = fleet
        self._judge = judge

    @property
    def patience(self) -> float:
        """Seconds within which a world must heal: leases, sweeps, breaker and a pass."""
        settings = self._stage.settings
        waits = 2 * settings.lease + 2 * settings.sweep + settings.watchdog_interval
        return (waits + settings.grace).total_seconds() + BREAKER + MARGIN

    @property
    def leases(self) -> float:
        """Seconds until every claim of a dead worker is taken back, also after a clock jumped."""
        settings = self._stage.settings
        return (2 * settings.lease + 2 * settings.sweep).total_seconds() + MARGIN

    @property
    def bound(self) -> float:
        """Seconds by which a row may start late while the store is up and hands are free."""
        return (self._stage.settings.grace + self._stage.settings.sweep).total_seconds()

    def check(self, calm_since: datetime, calm_at: int) -> None:
        """Raise unless the world has healed.

        Args:
            calm_since: since when every row has to start promptly, by the store's clock.
            calm_at: since when no claim may be taken back, in true time.
        """
        now = self._store.clock.now()
        self.check_leases()
        for row in self._store.tables.executions.values():
            if row.is_live and not row.held_by:
                self._check_waiting(row, now)
        if not self._stage.is_clock_in_doubt():
            self._judge.limits.check_parked(now - timedelta(seconds=self.bound + MARGIN))
        self._check_prompt(calm_since)
        self._check_untouched(calm_at)
        self._check_watchdog(now)
        self._check_sessions(now)

    def check_leases(self) -> None:
        """Raise if a row counts as running and no living worker runs its claim."""
        for row in self._store.tables.executions.values():
            if row.state is State.RUNNING and not self._fleet.runs(row):
                raise Broken(f"{_shown(row)} counts as running, and nobody runs it")

    def _check_waiting(self, row: Execution, now: datetime) -> None:
        late = (now - row.due_at).total_seconds()
        if late > self.bound + MARGIN and not self._is_in_line(row, now):
            raise Broken(f"{_shown(row)} is {late:.0f} s late, and nobody starts it")
        if not self._fleet.premises.exchange.carries or late > -MARGIN:
            return
        ahead = -late < min(self._stage.settings.horizon.total_seconds(), 86_400.0) - self.patience
        old = (now - row.created_at).total_seconds() > self.patience
        if row.state is State.PENDING and ahead and old:
            raise Broken(f"{_shown(row)} is due soon, and the broker was never told")
        if ahead and row.state is State.SCHEDULED and not self._is_rung(row):
            raise Broken(f"{_shown(row)} has no ticket, though the broker was told")

    def _is_rung(self, row: Execution) -> bool:
        """Return whether the broker has a ticket of a row, or has lost or delayed a ticket."""
        exchange = self._fleet.premises.exchange
        known = exchange.inner.bodies() | exchange.lies
        return not known.isdisjoint(self._tickets(row))

    def _tickets(self, row: Execution) -> set[str]:
        rings = range(row.attempt + 1)
        return {Ticket(self._store.uuid, row.id, ring).to_text() for ring in rings}

    def _is_in_line(self, row: Execution, now: datetime) -> bool:
        """Return whether a row waits for earlier rows of its schedule that are being claimed."""
        claimed = self._judge.claimed_at.get(row.schedule_id or "")
        return claimed is not None and (now - claimed).total_seconds() < self.bound + MARGIN

    def _check_prompt(self, since: datetime) -> None:
        """7: without faults, a row that was written before its due time starts when due."""
        for row in reversed(self._judge.starts):
            if row.started_at is None or row.started_at < since:
                break
            late = (row.started_at - row.due_at).total_seconds()
            foreseen = row.due_at > since and row.created_at < row.due_at
            if foreseen and late > self._bound_of(row):
                raise Broken(f"7: {_shown(row)} started {late:.1f} s late in times of peace")

    def _bound_of(self, row: Execution) -> float:
        """Return how late a row may start: promptly, if the broker carries its ticket unharmed."""
        exchange = self._fleet.premises.exchange
        lied = not exchange.lies.isdisjoint(self._tickets(row))
        doubt = row.created_at <= self._stage.clock_in_doubt_until
        return self.bound if lied or doubt or not exchange.carries else PROMPT

    def _check_untouched(self, since: int) -> None:
        for at, row in self._judge.taken_back:
            if at > since:
                raise Broken(f"{_shown(row)} was taken back in times of peace")

    def _check_watchdog(self, now: datetime) -> None:
        settings = self._stage.settings
        longest = settings.watchdog_interval + settings.sweep + settings.beat
        done = self._store.last_pass().value.finished_at
        if done is None or (now - done).total_seconds() > longest.total_seconds() + MARGIN:
            raise Broken(f"the last pass ended at {done}; now is {now}")
        exchange = self._fleet.premises.exchange
        if exchange.carries and not exchange.inner.has_any(
            lane_of(self._store.uuid, SCHEDULER_QUEUE)
        ):
            raise Broken("the watchdog has no message on the broker")

    def _check_sessions(self, now: datetime) -> None:
        sessions = self._store.tables.sessions
        for worker in self._fleet.workers:
            session = sessions.get(worker.worker.heartbeat.session)
            if session is None or session.leased_until is None or session.leased_until <= now:
                raise Broken(f"{worker.name} has no session that is alive")


def _shown(row: Execution) -> str:
    slot = f"{row.snapshot.name}@{row.run_at:%Y-%m-%d %H:%M:%S}"
    return f"{slot} ({row.kind}, {row.state}, attempt {row.attempt}, {row.id[-4:]})"
