"""What people look at: history, schedules, attempts, and what is left of both."""

from collections.abc import Sequence

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.ports.messages import (
    Attempt,
    ExecutionQuery,
    Page,
    Reading,
    Report,
    Rollup,
    ScheduleQuery,
)
from sempre.stores.sql import reading, records
from sempre.stores.sql.database import Database
from sempre.stores.sql.dialects import Transaction

__all__ = ["Looking"]


class Looking(Database):
    """The operations of the port that change nothing, and that no worker needs."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history."""
        return self._read(lambda transaction: reading.executions(transaction, query))

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each of these schedules."""
        return self._read(lambda transaction: reading.latest(transaction, schedule_ids, limit))

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules."""
        return self._read(lambda transaction: reading.schedules(transaction, query))

    def ranges(self, schedule_id: str, *, limit: int) -> Reading[list[SlotRange]]:
        """Return the latest stretches of slots that passed without a row."""

        def ask(transaction: Transaction) -> list[SlotRange]:
            found = transaction.rows("latest_ranges", schedule_id=schedule_id, limit=limit)
            return list(map(records.read_range, found))

        return self._read(ask)

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every try at an execution."""

        def ask(transaction: Transaction) -> list[Attempt]:
            return list(map(records.read_attempt, transaction.rows("attempts_of", id=execution_id)))

        return self._read(ask)

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last report of each of these executions."""

        def ask(transaction: Transaction) -> list[Report]:
            found = transaction.rows("reports_of", ids=sorted(set(ids)))
            return list(map(records.read_report, found))

        return self._read(ask)

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return what is left of purged rows."""

        def ask(transaction: Transaction) -> list[Rollup]:
            found = transaction.rows("rollups_of", schedule_id=schedule_id)
            return list(map(records.read_rollup, found))

        return self._read(ask)
