"""Queries about health: failures, and executions that wait for too long."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import attrgetter

from sempre.domain.execution import Execution
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.health import Backlog
from sempre.ports.messages import Reading, Stretch
from sempre.stores.sql.announcements import waiting_lanes
from sempre.stores.sql.database import Database
from sempre.stores.sql.decoding import LeftOut, executions_of
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import is_one_off, queue_of
from sempre.stores.sql.maintenance import read_stretch

__all__ = ["SqlHealth"]

_by_end = attrgetter("finished_at", "id")


class SqlHealth(Database):
    """The operations of the port that health is judged by."""

    def failing(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id; return the names of those that failed last."""

        def ask(transaction: Transaction) -> Stretch:
            found = transaction.rows("schedules_failing", after=after, limit=limit)
            return read_stretch(found)

        return self._read(ask)

    def outcomes(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the last outcomes of each of these schedules."""

        def ask(transaction: Transaction, left_out: LeftOut) -> dict[str, tuple[Execution, ...]]:
            found: dict[str, list[Execution]] = {each: [] for each in schedule_ids}
            rows = transaction.outcome_rows(sorted(found), limit) if found else []
            for row in executions_of(rows, left_out):
                found[row.schedule_id or ""].append(row)
            pairs = found.items()
            return {each: tuple(sorted(rows, key=_by_end, reverse=True)) for each, rows in pairs}

        return self._read_rows(ask)

    def failures(self, *, since: datetime, limit: int) -> Reading[list[Execution]]:
        """Return executions that failed since an instant, the last ones of each job."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Execution]:
            asked = {"since": microseconds_of(since), "limit": limit}
            pages = (
                transaction.rows("failures_of_job", job=job, **asked)
                for job in _failed_jobs(transaction)
            )
            return [row for page in pages for row in executions_of(page, left_out)]

        return self._read_rows(ask)

    def backlog(self, *, late: timedelta, limit: int) -> Reading[list[Backlog]]:
        """Return the waiting executions that are overdue, in groups."""

        def ask(transaction: Transaction) -> list[Backlog]:
            until = microseconds_of(transaction.now - late)
            return _merged([*_free(transaction, until, limit), *_held(transaction, until, limit)])

        return self._read(ask)


def _failed_jobs(transaction: Transaction) -> Iterator[str]:
    """Yield the jobs with executions that failed: one probe of the index each."""
    job = ""
    while job := transaction.rows("failed_job_after", job=job)[0][0]:
        yield job


def _free(transaction: Transaction, until: int, limit: int) -> Iterator[Backlog]:
    """Yield the overdue executions that no switch holds, by lane, priority and job."""
    for priority, lane in waiting_lanes(transaction, None):
        asked = {"lane": lane, "priority": priority, "until": until, "limit": limit}
        for job, count, oldest in transaction.rows("overdue_in_lane", **asked):
            at = instant_of(oldest)
            yield Backlog(queue_of(lane), job, "", is_one_off(lane), count, at)


def _held(transaction: Transaction, until: int, limit: int) -> Iterator[Backlog]:
    """Yield the overdue executions that a switch holds, by lane and job."""
    for row in transaction.rows("all_switches"):
        name = row[0]
        asked = {"name": name, "until": until, "limit": limit}
        for lane, job, count, oldest in transaction.rows("overdue_and_held", **asked):
            at = instant_of(oldest)
            yield Backlog(queue_of(lane), job, name, is_one_off(lane), count, at)


def _merged(groups: Sequence[Backlog]) -> list[Backlog]:
    """Return one group for all priorities of a queue and job."""
    found: dict[tuple[str, str, str, bool], Backlog] = {}
    for each in groups:
        key = (each.queue, each.job, each.held_by, each.is_one_off)
        known = found.get(key)
        count = each.count + (known.count if known else 0)
        oldest = min(each.oldest_due_at, known.oldest_due_at if known else each.oldest_due_at)
        found[key] = Backlog(*key, count, oldest)
    return sorted(found.values())
