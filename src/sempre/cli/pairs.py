"""What is known of the pairs of a store: when each last looked, and what it found."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.cli.desk import Desk
from sempre.domain.execution import Execution
from sempre.domain.pair import PAIR, Scan, cadence_of, is_pair
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.errors import SempreError

__all__ = ["PairHealth", "pairs_of"]

LOOKED_AT = 30
TICKS = 3
"""A pair that has not looked for so many of its intervals is reported."""


@dataclass(frozen=True)
class PairHealth:
    """One pair, or a shard of one.

    Attributes:
        schedule: it is one like any other.
        cadence: the time between two looks.
        looked_at: when it last succeeded; None is never.
        scan: what it found then.
        now: when this was read.
        failing: why its last run failed, or an empty text.
    """

    schedule: Schedule
    cadence: timedelta
    looked_at: datetime | None
    scan: Scan | None
    now: datetime
    failing: str = ""

    @property
    def name(self) -> str:
        """The name of its schedule."""
        return self.schedule.name

    @property
    def age(self) -> timedelta:
        """How long ago it looked; since it was created, if it never did."""
        return self.now - (self.looked_at or self.schedule.created_at)

    @property
    def is_stale(self) -> bool:
        """Whether it should have looked long ago. A disabled one should not.

        On a cron that rests at night nothing is due until the morning.
        """
        definition = self.schedule.definition
        return definition.enabled and self.age > TICKS * self.cadence and self._has_missed_slots

    @property
    def _has_missed_slots(self) -> bool:
        """Whether so many slots have come since it looked; a grid that cannot be asked counts."""
        since = self.looked_at or self.schedule.created_at
        try:
            slots = self.schedule.definition.grid.times(since, TICKS)
        except (SempreError, ValueError):
            return True
        return len(slots) == TICKS and slots[-1] < self.now


def pairs_of(desk: Desk) -> Iterator[PairHealth]:
    """Yield the pairs of a store by name."""
    found = desk.app.schedules.find(text=PAIR)
    schedules = [each for each in found if is_pair(each.name)]
    latest = desk.read(desk.store.latest([each.id for each in schedules], limit=LOOKED_AT))
    for schedule in schedules:
        rows = sorted(latest.get(schedule.id, ()), key=lambda row: row.run_at, reverse=True)
        yield _health(desk, schedule, [row for row in rows if row.started_at is not None])


def _health(desk: Desk, schedule: Schedule, rows: list[Execution]) -> PairHealth:
    good = next((row for row in rows if row.state is State.SUCCEEDED), None)
    last = next((row for row in rows if row.state is not State.RUNNING), None)
    failing = last.reason if last and last.state is State.FAILED else ""
    looked_at = good.finished_at if good else None
    scan = _scan(desk, good) if good else None
    return PairHealth(
        schedule, cadence_of(schedule.definition.grid, desk.now), looked_at, scan, desk.now, failing
    )


def _scan(desk: Desk, row: Execution) -> Scan | None:
    attempts = desk.read(desk.store.attempts(row.id))
    results = (each.result for each in reversed(attempts) if each.state is State.SUCCEEDED)
    return Scan.read(next(results, None))
