"""Queries about health: failures, and executions that wait for too long."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.ports.health import Backlog
from sempre.ports.messages import Reading, Stretch
from sempre.stores.redis.arguments import listed
from sempre.stores.redis.decoding import LeftOut, executions_of
from sempre.stores.redis.encoding import MICROSECOND, instant, stamp
from sempre.stores.redis.history import RedisHistory

__all__ = ["RedisHealth"]


class RedisHealth(RedisHistory):
    """The operations of the port that health is judged by."""

    def failing(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id; return the names of those that failed last."""

        def read(found: Sequence[Any]) -> Stretch:
            count, last, names = found
            return Stretch(count, last, tuple(names))

        return self._read("failing", [after, limit], read)

    def outcomes(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the last outcomes of each of these schedules."""
        ids = list(dict.fromkeys(schedule_ids))

        def read(found: Sequence[Any], left_out: LeftOut) -> dict[str, tuple[Execution, ...]]:
            rows = (tuple(executions_of(each, left_out)) for each in found)
            return dict(zip(ids, rows, strict=True))

        return self._read_rows("outcomes", [*listed(ids), limit], read)

    def failures(self, *, since: datetime, limit: int) -> Reading[list[Execution]]:
        """Return executions that failed since an instant, the last ones of each job."""
        return self._read_rows("failures", [stamp(since), limit], executions_of)

    def backlog(self, *, late: timedelta, limit: int) -> Reading[list[Backlog]]:
        """Return the waiting executions that are overdue, in groups."""

        def read(found: Sequence[Any]) -> list[Backlog]:
            groups = [
                Backlog(queue, job, held_by, kind == "single", count, instant(oldest))
                for queue, job, held_by, kind, count, oldest in found
            ]
            return sorted(groups)

        return self._read("backlog", [-(late // MICROSECOND), limit], read)
