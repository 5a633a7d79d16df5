"""Progress reports: how far the runs of a worker have come, stored once in a beat at most.

Reports are for people: nothing is decided by them. Progress between two beats is not stored, and
the last progress before the end of a run may be missing.
"""

from sempre.engine.capacity import Capacity
from sempre.engine.core import Engine
from sempre.ports.executor import Executor
from sempre.ports.messages import Report

__all__ = ["ProgressReporter"]


class ProgressReporter:
    """Stores new progress of all runs of a worker in one round trip."""

    def __init__(self, engine: Engine, capacity: Capacity, executor: Executor) -> None:
        """Begin without a report."""
        self._engine = engine
        self._capacity = capacity
        self._executor = executor
        self._stored: dict[int, Report] = {}

    def report(self, session: str) -> None:
        """Store progress that has changed since the last call, if any has.

        Raises:
            StoreUnavailable: the next call stores the progress.
        """
        reports = {each.fence: each for each in self._reports()}
        new = [each for fence, each in reports.items() if self._stored.get(fence) != each]
        if new:
            self._engine.store.report(new, session=session)
        self._stored = reports

    def _reports(self) -> list[Report]:
        found = self._executor.progress()
        rows = (run.execution for run in self._capacity.running() if found)
        known = ((row, found[row.id]) for row in rows if row.id in found)
        return [
            Report(row.id, row.fence, progress.done, progress.total, progress.note)
            for row, progress in known
        ]
