"""Scales: where values and instants lie on an axis, and the round values that the axis labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import floor, log10

from sempre.grids.instants import instant_of, seconds_of
from sempre.grids.zones import zone

__all__ = ["Scale", "Tick", "TimeScale", "length_text", "number_text"]

MILLION = 1_000_000
DAY = 86_400
MINUTES = (1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 43_200)
UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))
THOUSAND = 1_000


@dataclass(frozen=True)
class Scale:
    """Values from 0 to `high` on pixels from `start` to `end`; an axis may point either way."""

    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        share = min(1.0, max(0.0, value / self.high)) if self.high > 0 else 0.0
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 4) -> list[float]:
        """Return round values from 0 up to the highest, about as many as `most`."""
        if self.high <= 0:
            return [0.0]
        power = 10.0 ** floor(log10(self.high / most))
        step = next(power * each for each in (1, 2, 5, 10) if power * each * most >= self.high)
        return [number * step for number in range(floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Tick:
    """A labelled instant of a time axis."""

    at: datetime
    label: str
    is_midnight: bool


@dataclass(frozen=True)
class TimeScale:
    """Instants on pixels from `left` to `right`, with labels on the clocks of one zone."""

    start: datetime
    end: datetime
    left: float
    right: float
    timezone: str = "UTC"

    def place(self, instant: datetime) -> float:
        """Return the pixel of an instant; instants outside lie on the edge."""
        length = (self.end - self.start).total_seconds()
        share = (instant - self.start).total_seconds() / length if length > 0 else 0.0
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)

    def ticks(self, pixels: float = 80) -> Iterator[Tick]:
        """Yield round times of the zone, at least so many pixels apart."""
        length = (self.end - self.start).total_seconds()
        least = length * pixels / max(1.0, self.right - self.left)
        step = next((each for each in MINUTES if each * 60 >= least), MINUTES[-1]) * 60
        offset_at = zone(self.timezone).offset_at
        first = seconds_of(self.start)
        wall = (first + offset_at(first)) // step * step
        last = seconds_of(self.end)
        while True:
            # Twice: the first guess may lie before a clock change, its answer after it.
            second = wall - offset_at(wall - offset_at(wall))
            if second > last:
                return
            if second >= first:
                yield _tick(second, second + offset_at(second), is_by_day=step >= DAY)
            wall += step


def _tick(second: int, wall: int, *, is_by_day: bool) -> Tick:
    clock = instant_of(wall * MILLION)
    is_midnight = wall % DAY == 0
    label = f"{clock:%a} {clock.day}" if is_midnight or is_by_day else f"{clock:%H:%M}"
    return Tick(instant_of(second * MILLION), label, is_midnight)


def number_text(value: float) -> str:
    """Write a number of an axis: `0.5`, `20`, `1.5k`."""
    return f"{value / THOUSAND:g}k" if value >= THOUSAND else f"{value:g}"


def length_text(length: timedelta | float) -> str:
    """Write a length of time in its largest unit: `0.8s`, `12s`, `4m`, `1.5h`."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    for size, letter in UNITS:
        if seconds >= size:
            return f"{round(seconds / size, 1):g}{letter}"
    return f"{round(seconds, 1):g}s" if seconds >= 1 else f"{round(seconds, 3):g}s"
