"""Maintenance: what a worker does for the whole fleet: rescues, limits, passes, reports."""

from sempre.engine.capacity import Capacity
from sempre.engine.core import Engine
from sempre.engine.heartbeat import Heartbeat
from sempre.engine.pass_turn import PassTurn
from sempre.engine.progress_reports import ProgressReporter
from sempre.engine.rescuer import Rescuer
from sempre.engine.rings import ring_orphans
from sempre.engine.run_logs import RunLogWriter
from sempre.engine.watchdog import Watchdog
from sempre.ports.executor import Executor

__all__ = ["Maintenance"]

SHORTEST_REST = 0.1


class Maintenance:
    """The maintenance of one worker.

    Attributes:
        watchdog: runs passes.
        rescuer: ends the claims of workers that are gone.
        logs: stores the logs of runs.
    """

    def __init__(
        self, engine: Engine, capacity: Capacity, executor: Executor, queues: frozenset[str]
    ) -> None:
        """Begin without a call of the watchdog."""
        self._engine = engine
        self.watchdog = Watchdog(engine, queues=queues)
        self.rescuer = Rescuer(engine)
        self._reports = ProgressReporter(engine, capacity, executor)
        self.logs = RunLogWriter(engine, capacity, executor)
        self._turn = PassTurn(engine)
        self._is_called = False

    @property
    def rest(self) -> float:
        """Seconds to rest before the next step, unless a heartbeat is answered."""
        return min(max(SHORTEST_REST, self.rescuer.rest), self._engine.limits.rest)

    def call_watchdog(self) -> None:
        """Run a pass with the next step, if one is due; callable from any thread."""
        self._is_called = True

    def step(self, heartbeat: Heartbeat) -> int:
        """Rescue, open limits, run the pass if it is due; return how many were rescued."""
        rescued = self.rescuer.step()
        self._engine.limits.step()
        is_called, self._is_called = self._is_called, False
        if is_called or self._turn.has_come(heartbeat.tick):
            self.watchdog.perform()
        self.watchdog.ensure()
        if self._engine.bell.has_unrung:
            ring_orphans(self._engine, actor="sempre")
        self._engine.healing.flush()
        self._reports.report(heartbeat.session)
        self.logs.write_running()
        return rescued
