"""Reporting: how far the runs of a worker have come, told to the store once in a beat at most.

It is for people who look: nothing is decided by it, what comes between two beats is not told, and
what a run says just before it ends may be missing.
"""

from sempre.engine.capacity import Capacity
from sempre.engine.core import Engine
from sempre.ports.executor import Executor
from sempre.ports.messages import Report

__all__ = ["Reporter"]


class Reporter:
    """Tells the store what is new, for all runs of a worker in one round trip."""

    def __init__(self, engine: Engine, capacity: Capacity, executor: Executor) -> None:
        """Begin with nothing told."""
        self._engine = engine
        self._capacity = capacity
        self._executor = executor
        self._told: dict[int, Report] = {}

    def report(self, session: str) -> None:
        """Tell what has changed since the last time, if anything has.

        Raises:
            StoreUnavailable: it is told with the next report.
        """
        reports = {each.fence: each for each in self._reports()}
        new = [each for fence, each in reports.items() if self._told.get(fence) != each]
        if new:
            self._engine.store.report(new, session=session)
        self._told = reports

    def _reports(self) -> list[Report]:
        told = self._executor.progress()
        rows = (each.execution for each in self._capacity.running() if told)
        known = ((row, told[row.id]) for row in rows if row.id in told)
        return [
            Report(row.id, row.fence, progress.done, progress.total, progress.note)
            for row, progress in known
        ]
