"""The forecast of a window: load per minute, findings and suggestions."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sempre.domain.forecast.findings import (
    Collision,
    Overrun,
    Peak,
    QuietHours,
    collisions,
    overruns,
    peaks,
    quiet_hours,
)
from sempre.domain.forecast.load import LeftOut, concurrency, curves_of, grouped, per_minute
from sempre.domain.forecast.recurrence import Origin, Recurrence, Window
from sempre.domain.forecast.suggestions import Suggestion, suggestions

__all__ = ["Forecast", "forecast"]


@dataclass(frozen=True)
class Forecast:
    """The expected load of a window.

    Attributes:
        starts: expected starts of each minute.
        p50: the most runs in flight of each minute, if runs take their median duration.
        p95: the most runs in flight of each minute, if all runs take their p95 duration.
        schedules: the number of schedules that are counted.
        origins: where durations come from, with the number of schedules.
        left_out: schedules whose grid has no answer here.
        capacity: the runs that workers can have in flight; None if it is not known.
    """

    window: Window
    starts: tuple[float, ...]
    p50: tuple[float, ...]
    p95: tuple[float, ...]
    schedules: int = 0
    origins: tuple[tuple[Origin, int], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    peaks: tuple[Peak, ...] = ()
    collisions: tuple[Collision, ...] = ()
    quiet: tuple[QuietHours, ...] = ()
    overruns: tuple[Overrun, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    capacity: int | None = None

    @property
    def highest(self) -> tuple[float, float]:
        """The highest expected concurrency, by p50 and by p95."""
        return max(self.p50, default=0.0), max(self.p95, default=0.0)

    @property
    def minutes_over_capacity(self) -> int:
        """The number of minutes in which more runs than the capacity are in flight, by p95."""
        capacity = self.capacity
        return 0 if capacity is None else sum(each > capacity for each in self.p95)


def forecast(
    recurrences: Iterable[Recurrence], window: Window, *, capacity: int | None = None
) -> Forecast:
    """Return the expected load of a window."""
    known = list(recurrences)
    groups, left_out = grouped(known, window)
    curves = curves_of(groups, window)
    starts = per_minute(curves.starts)
    p50, p95 = concurrency(curves.p50), concurrency(curves.p95)
    return Forecast(
        window,
        starts,
        p50,
        p95,
        schedules=len(known) - len(left_out),
        origins=tuple(sorted(Counter(each.durations.origin for each in known).items())),
        left_out=tuple(left_out),
        peaks=peaks(window, starts, p50, p95),
        collisions=collisions(window, starts, groups),
        quiet=quiet_hours(window, starts, p95),
        overruns=overruns(groups),
        suggestions=suggestions(groups, curves.p95, window),
        capacity=capacity,
    )
