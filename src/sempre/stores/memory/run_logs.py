"""The logs of runs in the memory store."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sempre.domain.values import copy_with
from sempre.ports.messages import Reading
from sempre.ports.run_logs import RunLog
from sempre.stores.memory.operation import Operation

__all__ = ["MemoryRunLogs"]


class MemoryRunLogs(ABC):
    """The operations of the port on the logs of runs."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def write_logs(self, logs: Sequence[RunLog], *, session: str) -> None:
        """Store the logs of runs of a session."""
        with self._at_once() as (tables, now):
            for log in logs:
                row = tables.executions.get(log.execution_id)
                if row and log.is_from(session, fence=row.fence, holder=row.session):
                    known = tables.run_logs.setdefault(row.id, {})
                    known[log.fence] = copy_with(log, written_at=now)

    def run_logs(self, execution_id: str) -> Reading[list[RunLog]]:
        """Return the logs of the runs of an execution, by fence."""
        with self._at_once() as (tables, now):
            found = tables.run_logs.get(execution_id, {})
            return Reading(now, [found[fence] for fence in sorted(found)])
