"""The health of pairs: when each pair last scanned the user's tables, and the result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.app.health.reader import Reader
from sempre.domain.execution import Execution
from sempre.domain.pair import Scan, cadence_of, is_pair
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.errors import SempreError

__all__ = ["PairHealth", "pairs_of"]

RUNS = 30
TICKS = 3
"""A pair without a scan for this number of intervals is stale."""


@dataclass(frozen=True)
class PairHealth:
    """One pair, or a shard of one.

    Attributes:
        schedule: the schedule that runs the scans.
        cadence: the time between two scans.
        scanned_at: when the last successful scan ended; None before the first.
        scan: the result of that scan.
        now: when this was read.
        failing: why the last scan failed; empty if it succeeded.
    """

    schedule: Schedule
    cadence: timedelta
    scanned_at: datetime | None
    scan: Scan | None
    now: datetime
    failing: str = ""

    @property
    def name(self) -> str:
        """The name of the schedule."""
        return self.schedule.name

    @property
    def age(self) -> timedelta:
        """The time since the last scan, or since the creation of the pair."""
        return self.now - (self.scanned_at or self.schedule.created_at)

    @property
    def is_stale(self) -> bool:
        """Whether three scans are overdue; never for a disabled pair.

        Slots are counted too: a cron that rests at night owes no scan before the morning.
        """
        definition = self.schedule.definition
        return definition.enabled and self.age > TICKS * self.cadence and self._has_missed_slots

    @property
    def _has_missed_slots(self) -> bool:
        """Whether three slots have passed since the last scan; assumed where the grid fails."""
        since = self.scanned_at or self.schedule.created_at
        try:
            slots = self.schedule.definition.grid.times(since, TICKS)
        except (SempreError, ValueError):
            return True
        return len(slots) == TICKS and slots[-1] < self.now


def pairs_of(reader: Reader, schedules: Iterable[Schedule]) -> Iterator[PairHealth]:
    """Yield the pairs among schedules."""
    found = [each for each in schedules if is_pair(each.name)]
    latest = reader.read(reader.store.latest([each.id for each in found], limit=RUNS))
    for schedule in found:
        rows = sorted(latest.get(schedule.id, ()), key=lambda row: row.run_at, reverse=True)
        yield _health(reader, schedule, [row for row in rows if row.started_at is not None])


def _health(reader: Reader, schedule: Schedule, rows: list[Execution]) -> PairHealth:
    good = next((row for row in rows if row.state is State.SUCCEEDED), None)
    last = next((row for row in rows if row.state is not State.RUNNING), None)
    failing = last.reason if last and last.state is State.FAILED else ""
    scanned_at = good.finished_at if good else None
    scan = _scan(reader, good) if good else None
    return PairHealth(
        schedule,
        cadence_of(schedule.definition.grid, reader.now),
        scanned_at,
        scan,
        reader.now,
        failing,
    )


def _scan(reader: Reader, row: Execution) -> Scan | None:
    attempts = reader.read(reader.store.attempts(row.id))
    results = (each.result for each in reversed(attempts) if each.state is State.SUCCEEDED)
    return Scan.read(next(results, None))
