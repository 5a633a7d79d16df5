"""Purges: a script examines ended executions, and deletes those that are not kept."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged
from sempre.stores.redis.encoding import MICROSECOND, instant, length, stamp

__all__ = ["RedisPurges"]

WIDTH = 19  # of an instant


class RedisPurges(ABC):
    """The operations of the port that delete old history."""

    def purge(self, purge: Purge) -> Purged:
        """Examine ended executions, and delete those that are not kept."""
        own = purge.retention
        asked: list[str | int] = [
            stamp(purge.before),
            purge.limit,
            _member(purge.after),
            own if isinstance(own, str) else length(own),
            "" if purge.keep is None else purge.keep,
            int(purge.count_only),
        ]
        count, end, more = self._run("purge", asked)
        return Purged(count, _after(end), more == 1)

    def purge_ranges(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest ranges of slots before an instant."""
        return int(self._run("purge_ranges", [stamp(before), limit]))

    def retentions(self) -> list[timedelta]:
        """Return the retentions that schedules have of their own."""
        return [int(each) * MICROSECOND for each in self._run("retentions")]

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""


def _member(after: str) -> str:
    """Return the member of the index of ended executions at a place."""
    if not after:
        return ""
    at, identity = PageKey.read(after)
    return stamp(at) + identity


def _after(member: str) -> str:
    return str(PageKey(instant(member[:WIDTH]), member[WIDTH:])) if member else ""
