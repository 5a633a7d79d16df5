"""Recurrences: schedules as a forecast sees them, and the window of a forecast."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Literal

from sempre.domain.percentiles import percentile
from sempre.domain.policies import Overlap
from sempre.grids.grid import Grid
from sempre.grids.instants import seconds_of

__all__ = ["DEFAULT_DURATION", "Durations", "Origin", "Recurrence", "Window", "durations_of"]

Origin = Literal["schedule", "daily counts", "job", "default"]
"""Where durations come from: past runs of the schedule or job, roll-ups, or an assumption."""

MINUTE = 60
DEFAULT_DURATION = timedelta(seconds=10)
"""The assumed duration of a job without a past run."""


@dataclass(frozen=True)
class Durations:
    """How long runs take: half of them at most p50, 95 of 100 at most p95.

    Attributes:
        runs: the number of past runs behind the figures.
    """

    p50: timedelta = DEFAULT_DURATION
    p95: timedelta = DEFAULT_DURATION
    origin: Origin = "default"
    runs: int = 0


def durations_of(lengths: Sequence[timedelta], origin: Origin) -> Durations | None:
    """Return the durations of past runs by nearest rank; None without a run."""
    p50, p95 = percentile(lengths, 50), percentile(lengths, 95)
    if p50 is None or p95 is None:
        return None
    return Durations(p50, p95, origin, len(lengths))


@dataclass(frozen=True)
class Recurrence:
    """A schedule that will start runs.

    Attributes:
        since: slots before this instant do not run; None: the schedule runs already.
        until: the last instant of a slot.
        left: the number of starts after `since` at which the schedule ends.
        cursor: the last decided slot; slots of a relative grid are computed from here.
    """

    name: str
    grid: Grid
    durations: Durations = Durations()
    jitter: timedelta = timedelta(0)
    overlap: Overlap = "skip"
    since: datetime | None = None
    until: datetime | None = None
    left: int | None = None
    cursor: datetime | None = None

    def key(self) -> tuple[object, ...]:
        """Return the value that recurrences of equal load share."""
        known = (self.jitter, self.overlap, self.since, self.until, self.left)
        where = self.cursor if self.grid.relative else None
        return (self.grid, *self.seconds, *known, where)

    @property
    def seconds(self) -> tuple[int, int]:
        """The durations p50 and p95 in whole seconds, rounded up; at least 1."""
        p50, p95 = self.durations.p50, self.durations.p95
        return max(1, ceil(p50.total_seconds())), max(1, ceil(p95.total_seconds()))


@dataclass(frozen=True)
class Window:
    """Whole minutes from an instant on.

    Attributes:
        start: a whole minute.
        minutes: the length.
        timezone: the zone in which days and hours are counted.
    """

    start: datetime
    minutes: int
    timezone: str = "UTC"

    @classmethod
    def of(cls, start: datetime, length: timedelta, timezone: str = "UTC") -> "Window":
        """Return the window of the minute of an instant and the minutes of a length of time."""
        minute = start.replace(second=0, microsecond=0)
        return cls(minute, max(1, ceil(length.total_seconds() / MINUTE)), timezone)

    @property
    def end(self) -> datetime:
        """The first instant after the window."""
        return self.start + timedelta(minutes=self.minutes)

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        return self.minutes * MINUTE

    def place(self, instant: datetime) -> int:
        """Return the second of an instant, counted from the start of the window."""
        return seconds_of(instant) - seconds_of(self.start)

    def minute(self, number: int) -> datetime:
        """Return the instant of a minute of the window."""
        return self.start + timedelta(minutes=number)
