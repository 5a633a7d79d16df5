"""Queries for people: history, schedules, attempts, and the counts of purged executions."""

from collections.abc import Sequence
from datetime import datetime

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.grids.instants import microseconds_of
from sempre.ports.messages import (
    Attempt,
    ExecutionQuery,
    Page,
    Reading,
    Report,
    Rollup,
    ScheduleQuery,
)
from sempre.ports.volume import MOST_COUNTED, MOST_RUNNING, Activity, Volume
from sempre.stores.sql import reading, records
from sempre.stores.sql.database import Database
from sempre.stores.sql.decoding import LeftOut, decoded
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import instant

__all__ = ["SqlHistory"]

PAST_ALL = "\U0010ffff"
"""A text that sorts after each character of an id."""


class SqlHistory(Database):
    """The read-only operations of the port that serve people, not workers."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history."""
        return self._read_rows(lambda each, left_out: reading.executions(each, left_out, query))

    def execution_ids(self, prefix: str, *, limit: int) -> Reading[list[str]]:
        """Return ids of executions that begin with a text, highest first."""
        bounds = {"prefix": prefix, "beyond": prefix + PAST_ALL, "limit": limit}

        def ask(transaction: Transaction) -> list[str]:
            return [row[0] for row in transaction.rows("ids_from", **bounds)]

        return self._read(ask)

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each of these schedules."""
        return self._read_rows(
            lambda each, left_out: reading.latest(each, left_out, schedule_ids, limit)
        )

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules."""
        return self._read_rows(lambda each, left_out: reading.schedules(each, left_out, query))

    def ranges(
        self, schedule_id: str, *, limit: int, before: datetime | None = None
    ) -> Reading[list[SlotRange]]:
        """Return the latest ranges of slots that passed without a row."""
        asked = {"schedule_id": schedule_id, "limit": limit}
        latest = microseconds_of(before) if before else reading.LATEST

        def ask(transaction: Transaction, left_out: LeftOut) -> list[SlotRange]:
            found = transaction.rows("latest_ranges", **asked, before=latest)
            return decoded("ranges", found, records.read_range, left_out)

        return self._read_rows(ask)

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every attempt of an execution."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Attempt]:
            found = transaction.rows("attempts_of", id=execution_id)
            return decoded("attempts", found, records.read_attempt, left_out)

        return self._read_rows(ask)

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last report of each of these executions."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Report]:
            found = transaction.rows("reports_of", ids=sorted(set(ids)))
            return decoded("reports", found, records.read_report, left_out)

        return self._read_rows(ask)

    def volume(self) -> Volume:
        """Return how much the store holds."""
        [found] = self._read(lambda each: each.rows("volume", most=MOST_COUNTED)).value
        version, schedules, executions, ranges, *ends = found
        return Volume(version, schedules, executions, ranges, *map(instant, ends))

    def activity(self) -> Reading[Activity]:
        """Return the mark of what executions do now."""

        def ask(transaction: Transaction) -> Activity:
            [found] = transaction.rows("activity", most=MOST_RUNNING)
            return Activity(" ".join(map(str, found)), found[-1])

        return self._read(ask)

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return the counts of purged rows, by day, state and kind."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Rollup]:
            found = transaction.rows("rollups_of", schedule_id=schedule_id)
            return decoded("rollups", found, records.read_rollup, left_out)

        return self._read_rows(ask)
