"""The part of a store's port by which people look at what was and is. Nothing here changes it."""

from collections.abc import Sequence
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
    """What every store tells of its schedules and executions."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history, newest slot first, by key and not by counting."""
        ...

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each of these schedules, as many, in one round trip."""
        ...

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules that are not deleted, by name."""
        ...

    def ranges(self, schedule_id: str, *, limit: int) -> Reading[list[SlotRange]]:
        """Return the latest stretches of slots that passed without a row, newest first."""
        ...

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every try at an execution, lost ones and late results included, in order."""
        ...

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last report of each of these executions that has any, by execution id.

        It stays when the run is over, until the execution is purged or reports anew.
        """
        ...

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return what is left of purged rows, by day."""
        ...
