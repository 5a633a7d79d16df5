"""The queries about the health of the memory store: they change nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from sempre.domain.execution import Execution
from sempre.domain.states import OUTCOMES, State
from sempre.ports.health import Backlog
from sempre.ports.messages import Reading, Stretch
from sempre.stores.memory import history
from sempre.stores.memory.operation import Operation
from sempre.stores.memory.tables import Tables

__all__ = ["MemoryHealth"]


class MemoryHealth(ABC):
    """The operations of the port that health is judged by."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def _rows(self, tables: Tables, schedule_id: str | None = None) -> Iterable[Execution]:
        """Return all executions, or those of a schedule."""
        return tables.executions.values() if schedule_id is None else tables.rows_of(schedule_id)

    def _outcomes(self, tables: Tables, schedule_id: str) -> list[Execution]:
        rows = (row for row in self._rows(tables, schedule_id) if row.finished_at is not None)
        return _newest_first(row for row in rows if row.state in OUTCOMES)

    def failing(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id; return the names of those that failed last."""
        with self._at_once() as (tables, now):
            page = history.following(tables, after)[:limit]
            lasts = [(each.name, self._outcomes(tables, each.id)[:1]) for each in page]
            names = [name for name, rows in lasts for row in rows if row.state is State.FAILED]
            last = page[-1].id if page else ""
            return Reading(now, Stretch(len(page), last, tuple(names)))

    def outcomes(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the last outcomes of each of these schedules."""
        with self._at_once() as (tables, now):
            found = {each: tuple(self._outcomes(tables, each)[:limit]) for each in schedule_ids}
            return Reading(now, found)

    def failures(self, *, since: datetime, limit: int) -> Reading[list[Execution]]:
        """Return executions that failed since an instant, the last ones of each job."""
        with self._at_once() as (tables, now):
            rows = [row for row in self._rows(tables) if row.state is State.FAILED]
            late = _newest_first(row for row in rows if row.ended_at and row.ended_at >= since)
            by_job = groupby(sorted(late, key=_job_of), key=_job_of)
            return Reading(now, [row for _, found in by_job for row in list(found)[:limit]])

    def backlog(self, *, late: timedelta, limit: int) -> Reading[list[Backlog]]:
        """Return the waiting executions that are overdue, in groups."""
        with self._at_once() as (tables, now):
            waiting = [row for row in tables.unended.values() if row.is_live]
            overdue = [row for row in waiting if row.due_at <= now - late]
            return Reading(now, _in_groups(overdue, tables, limit))


def _newest_first(rows: Iterable[Execution]) -> list[Execution]:
    return sorted(rows, key=lambda row: (row.finished_at or row.run_at, row.id), reverse=True)


def _job_of(row: Execution) -> str:
    return row.snapshot.job


def _in_groups(rows: Iterable[Execution], tables: Tables, limit: int) -> list[Backlog]:
    def group_of(row: Execution) -> tuple[str, str, str, bool]:
        return (row.snapshot.queue, _job_of(row), row.held_by, row.schedule_id is None)

    known = {*tables.switches, ""}
    found = groupby(sorted((row for row in rows if row.held_by in known), key=group_of), group_of)
    groups = [(key, [row.due_at for row in some]) for key, some in found]
    return [Backlog(*key, min(len(some), limit), min(some)) for key, some in groups]
