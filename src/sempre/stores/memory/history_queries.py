"""The queries of people about the memory store: they change nothing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

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
from sempre.ports.volume import MOST_RUNNING, Activity, Volume
from sempre.stores.memory import history
from sempre.stores.memory.operation import Operation

__all__ = ["MemoryHistory"]


class MemoryHistory(ABC):
    """The operations of the port that only read, and that no worker needs."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history."""
        with self._at_once() as (tables, now):
            return Reading(now, history.executions(tables, query))

    def execution_ids(self, prefix: str, *, limit: int) -> Reading[list[str]]:
        """Return ids of executions that begin with a text, highest first."""
        with self._at_once() as (tables, now):
            found = (each for each in tables.executions if each.startswith(prefix))
            return Reading(now, sorted(found, reverse=True)[:limit])

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each of these schedules."""
        with self._at_once() as (tables, now):
            queries = {each: ExecutionQuery(schedule_id=each, limit=limit) for each in schedule_ids}
            pages = {each: history.executions(tables, queries[each]) for each in queries}
            return Reading(now, {each: page.items for each, page in pages.items()})

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules."""
        with self._at_once() as (tables, now):
            return Reading(now, history.schedules(tables, query))

    def ranges(
        self, schedule_id: str, *, limit: int, before: datetime | None = None
    ) -> Reading[list[SlotRange]]:
        """Return the latest stretches of slots that passed without a row."""
        with self._at_once() as (tables, now):
            own = [each for each in tables.ranges if each.schedule_id == schedule_id]
            found = [each for each in own if before is None or each.first < before]
            newest = sorted(found, key=lambda each: each.first, reverse=True)
            return Reading(now, newest[:limit])

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every attempt of an execution."""
        with self._at_once() as (tables, now):
            return Reading(now, list(tables.attempts.get(execution_id, ())))

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last report of each of these executions."""
        with self._at_once() as (tables, now):
            wanted = sorted(tables.reports.keys() & set(ids))
            return Reading(now, [tables.reports[each] for each in wanted])

    def volume(self) -> Volume:
        """Return how much the store holds."""
        with self._at_once() as (tables, _):
            ends = [each.ended_at for each in tables.executions.values() if each.ended_at]
            return Volume(
                version=0,
                schedules=sum(not each.deleted for each in tables.schedules.values()),
                executions=len(tables.executions),
                ranges=len(tables.ranges),
                first_end=min(ends, default=None),
                last_end=max(ends, default=None),
            )

    def activity(self) -> Reading[Activity]:
        """Return the mark of what executions do now."""
        with self._at_once() as (tables, now):
            running = sum(not row.is_live for row in tables.unended.values())
            known = (len(tables.executions), len(tables.unended), tables.fence, running)
            return Reading(now, Activity(" ".join(map(str, known)), min(running, MOST_RUNNING)))

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return the counts and run times of purged executions, by day, state and kind."""
        with self._at_once() as (tables, now):
            found = [each for each in tables.rollups.values() if each.schedule_id == schedule_id]
            return Reading(now, sorted(found, key=lambda each: each.order))
