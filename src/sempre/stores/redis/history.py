"""Queries for people: history, schedules, attempts, and the counts of purged executions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.unreadable import Unreadable, unreadable
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
from sempre.stores.redis import arguments, pages, records
from sempre.stores.redis.decoding import LeftOut, decoded, told_as
from sempre.stores.redis.encoding import instant, stamp

__all__ = ["RedisHistory"]

T = TypeVar("T")


class RedisHistory(ABC):
    """The operations of the port that only read, and that no worker needs."""

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history."""
        return pages.executions(self._run, query)

    def execution_ids(self, prefix: str, *, limit: int) -> Reading[list[str]]:
        """Return ids of executions that begin with a text, among the newest 100,000 slots."""
        return pages.execution_ids(self._run, prefix, limit)

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each of these schedules."""
        return pages.latest(self._run, list(dict.fromkeys(schedule_ids)), limit)

    def schedules(self, query: ScheduleQuery) -> Reading[Page[Schedule]]:
        """Return a page of schedules."""
        return pages.schedules(self._run, query)

    def ranges(
        self, schedule_id: str, *, limit: int, before: datetime | None = None
    ) -> Reading[list[SlotRange]]:
        """Return the latest stretches of slots that passed without a row."""

        def read(found: Sequence[str], left_out: LeftOut) -> list[SlotRange]:
            describe = told_as("ranges", schedule_id)
            return decoded(
                found, lambda text: records.read_range(schedule_id, text), describe, left_out
            )

        return self._read_rows("ranges", [schedule_id, limit, stamp(before)], read)

    def attempts(self, execution_id: str) -> Reading[list[Attempt]]:
        """Return every attempt of an execution."""

        def read(found: Sequence[str], left_out: LeftOut) -> list[Attempt]:
            tries = records.sorted_attempts(records.paired(found))
            describe = told_as("attempts", execution_id)
            return decoded(
                tries, lambda each: records.read_attempt(execution_id, *each), describe, left_out
            )

        return self._read_rows("attempts", [execution_id], read)

    def reports(self, ids: Sequence[str]) -> Reading[list[Report]]:
        """Return the last report of each of these executions."""

        def read(found: Sequence[Any], left_out: LeftOut) -> list[Report]:
            return decoded(found, records.read_report, _unreadable_report, left_out)

        return self._read_rows("reports", arguments.listed(sorted(set(ids))), read)

    def volume(self) -> Volume:
        """Return how much the store holds."""
        version, *counts, first, last = self._run("volume")
        numbers = (min(count, MOST_COUNTED) for count in counts)
        ends = (records.read_instant(each[: records.WIDTH]) for each in (first, last))
        return Volume(int(version), *numbers, *ends)

    def activity(self) -> Reading[Activity]:
        """Return the mark of what executions do now."""

        def read(found: Sequence[Any]) -> Activity:
            return Activity(" ".join(map(str, found)), min(found[-1], MOST_RUNNING))

        return self._read("activity", [], read)

    def rollups(self, schedule_id: str) -> Reading[list[Rollup]]:
        """Return the counts and run times of purged executions, by day, state and kind."""

        def read(found: Sequence[str], left_out: LeftOut) -> list[Rollup]:
            days = records.days_of(records.paired(found))
            describe = told_as("rollups", schedule_id)
            return decoded(
                days, lambda day: records.read_rollup(schedule_id, *day), describe, left_out
            )

        return self._read_rows("rollups", [schedule_id], read)

    # Scripts

    @abstractmethod
    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script."""

    def _read(self, script: str, told: Iterable[str | int], read: Callable[[Any], T]) -> Reading[T]:
        """Run a script; return its answer with the store's now, from which the caller plans on."""
        now, found = self._run(script, told)
        return Reading(instant(now), read(found))

    def _read_each(
        self, script: str, told: Iterable[str | int], read: Callable[[Any], T]
    ) -> Reading[list[T]]:
        return self._read(script, told, lambda found: list(map(read, found)))

    def _read_rows(
        self, script: str, told: Iterable[str | int], read: Callable[[Any, LeftOut], T]
    ) -> Reading[T]:
        """Like `_read`, with the unreadable rows, which `read` adds to its list."""
        now, found = self._run(script, told)
        left_out: LeftOut = []
        value = read(found, left_out)
        return Reading(instant(now), value, tuple(left_out))


def _unreadable_report(row: Sequence[str], error: Exception) -> Unreadable:
    return unreadable("reports", row[0], row[0], error)
