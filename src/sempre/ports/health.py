"""The part of a store's port that health is judged by; it changes nothing.

Every query is bounded: its cost grows with what it is asked about, never with the whole history.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sempre.domain.execution import Execution
from sempre.ports.messages import Reading, Stretch

__all__ = ["Backlog", "Health"]


@dataclass(frozen=True, order=True)
class Backlog:
    """Executions of one job in one queue that wait and are overdue.

    Attributes:
        held_by: the switch that holds the executions; empty if no switch does.
        is_one_off: whether the executions belong to no schedule.
        count: the number of executions, up to the limit of the query.
        oldest_due_at: when the first of these executions was due.
    """

    queue: str
    job: str
    held_by: str
    is_one_off: bool
    count: int
    oldest_due_at: datetime


class Health(Protocol):
    """The queries of every store about failures and about work that waits for too long.

    An *outcome* is an execution that succeeded or failed for good; outcomes are ordered by their
    end.
    """

    def failing(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id; return the names of those that failed last.

        Such a schedule has an outcome, and its last outcome is a failure.
        """
        ...

    def outcomes(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the last `limit` outcomes of each of these schedules, in one round trip."""
        ...

    def failures(self, *, since: datetime, limit: int) -> Reading[list[Execution]]:
        """Return executions that failed for good since an instant: the last `limit` of each job.

        They come by job, and the last failure of a job comes first.
        """
        ...

    def backlog(self, *, late: timedelta, limit: int) -> Reading[list[Backlog]]:
        """Return the waiting executions that have been due for longer than `late`, in groups.

        Executions that a switch holds are included. At most `limit` executions are counted for each
        switch, and for each queue, priority and kind: schedules, manual runs, one-off work.
        """
        ...
