"""The part of a store's port that lists schedules and executions for people; it changes nothing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

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

__all__ = ["History"]


class History(Protocol):
    """The queries of every store about its schedules and executions."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of executions, newest slot first, found by key and not by offset."""
        ...

    def execution_ids(self, prefix: str, *, limit: int) -> Reading[list[str]]:
        """Return ids of executions that begin with a text, at most `limit`, highest id first.

        Where more ids begin with the text, the store chooses. A store without an index by id may
        search its newest slots only: the Redis store searches 100,000. It finds a whole id always.
        """
        ...

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest `limit` executions of each of these schedules, in one round trip."""
        ...

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules that are not deleted, by name."""
        ...

    def ranges(
        self, schedule_id: str, *, limit: int, before: datetime | None = None
    ) -> Reading[list[SlotRange]]:
        """Return the latest ranges of slots that passed without a row, newest first.

        Args:
            schedule_id: the schedule of the ranges.
            limit: the most ranges to return.
            before: only ranges whose first slot lies before this instant.
        """
        ...

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every attempt at an execution, lost ones and late results included, in order."""
        ...

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last progress report of each of these executions, by execution id.

        A report stays when the run is over, until the execution is purged or a later run reports.
        """
        ...

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return the counts of purged rows, by day, state and kind."""
        ...
