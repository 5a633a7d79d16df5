"""What a forecast finds: peaks, collisions, quiet hours, and runs longer than their interval."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.domain.forecast.load import Group
from sempre.domain.forecast.recurrence import MINUTE, Durations, Window
from sempre.grids.instants import seconds_of
from sempre.grids.zones import zone

__all__ = [
    "Collision",
    "Overrun",
    "Peak",
    "QuietHours",
    "collisions",
    "hour_of_day",
    "overruns",
    "peaks",
    "quiet_hours",
]

DAY_HOURS = 24
MOST = 5
MOST_NAMES = 100
FEWEST_TOGETHER = 2
# Hours whose load is above the lowest by this share of the range are still quiet.
NEAR = 0.1


@dataclass(frozen=True)
class Peak:
    """The busiest minute of an hour: its starts, and the runs in flight.

    Attributes:
        at: the first time in the window.
        times: how often the same minute of the day is as busy.
    """

    at: datetime
    times: int
    starts: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Collision:
    """A minute of the day in which several schedules start.

    Attributes:
        at: the first time in the window.
        times: how often the minute comes with as many starts.
        schedules: the number of schedules.
        names: the schedules, those with the most starts first; at most `MOST_NAMES`.
    """

    at: datetime
    times: int
    starts: float
    schedules: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class QuietHours:
    """Hours of the day, from `first` up to but without `until`, with the least load.

    Attributes:
        starts: all starts of the window in these hours.
        p95: the most runs in flight.
    """

    first: int
    until: int
    starts: float
    p95: float


@dataclass(frozen=True)
class Overrun:
    """A schedule whose runs take longer than its interval."""

    name: str
    interval: timedelta
    durations: Durations
    overlap: str


def hour_of_day(window: Window) -> list[int]:
    """Return the hour of the day of each minute of a window, in the zone of the window."""
    return [minute // MINUTE for minute in _minutes_of_day(window)]


def peaks(
    window: Window, starts: Sequence[float], p50: Sequence[float], p95: Sequence[float]
) -> tuple[Peak, ...]:
    """Return the busiest minutes of the day by p95, at most one of each hour of the window."""
    busiest = [
        max(range(first, min(first + MINUTE, window.minutes)), key=lambda m: (p95[m], starts[m]))
        for first in range(0, window.minutes, MINUTE)
    ]
    clock = _minutes_of_day(window)
    alike: defaultdict[tuple[int, float, float], list[int]] = defaultdict(list)
    for minute in busiest:
        alike[clock[minute], p95[minute], starts[minute]].append(minute)
    ranked = sorted(alike.values(), key=lambda some: (-p95[some[0]], -starts[some[0]], some[0]))
    return tuple(
        Peak(window.minute(first), len(some), starts[first], p50[first], p95[first])
        for some in ranked[:MOST]
        if p95[first := some[0]] > 0
    )


def collisions(
    window: Window, starts: Sequence[float], groups: Sequence[Group]
) -> tuple[Collision, ...]:
    """Return the minutes of the day in which the most schedules start together."""
    by_clock: defaultdict[tuple[int, float], list[int]] = defaultdict(list)
    for number, minute in enumerate(_minutes_of_day(window)):
        if starts[number] >= FEWEST_TOGETHER:
            by_clock[minute, starts[number]].append(number)
    ranked = sorted(by_clock.items(), key=lambda each: (-each[0][1], each[1][0]))
    found: list[Collision] = []
    for (_, count), numbers in ranked[:MOST]:
        tally = _starting(groups, numbers[0] * MINUTE)
        # A single schedule of a few seconds starts often in a minute, and collides with none.
        if len(tally) >= FEWEST_TOGETHER:
            names = tuple(name for name, _ in tally.most_common(MOST_NAMES))
            at = window.minute(numbers[0])
            found.append(Collision(at, len(numbers), count, len(tally), names))
    return tuple(found)


def _starting(groups: Iterable[Group], second: int) -> Counter[str]:
    """Return the schedules that may start in the minute of a second, with their starts."""
    tally: Counter[str] = Counter()
    for group in groups:
        begin = second - group.width + 1
        count = group.slots.count_between(begin, second + MINUTE)
        if count:
            tally.update(dict.fromkeys(group.names, count))
    return tally


def quiet_hours(
    window: Window, starts: Sequence[float], p95: Sequence[float]
) -> tuple[QuietHours, ...]:
    """Return the hours of the day with the least load, neighbours joined; none if all are alike.

    These are the hours with the fewest runs in flight; if these are most hours, with the fewest
    starts.
    """
    sums: defaultdict[int, float] = defaultdict(float)
    most: defaultdict[int, float] = defaultdict(float)
    for number, hour in enumerate(hour_of_day(window)):
        sums[hour] += starts[number]
        most[hour] = max(most[hour], p95[number])
    chosen = _lowest(most) or _lowest(sums)
    return tuple(
        QuietHours(
            first,
            (last + 1) % DAY_HOURS or DAY_HOURS,
            round(sum(sums[hour] for hour in range(first, last + 1)), 3),
            max(most[hour] for hour in range(first, last + 1)),
        )
        for first, last in _neighbours(chosen)
    )


def _lowest(loads: Mapping[int, float]) -> list[int]:
    """Return the hours near the lowest load; none if more than half of all hours are."""
    low, high = min(loads.values()), max(loads.values())
    found = [hour for hour in sorted(loads) if loads[hour] <= low + (high - low) * NEAR]
    return found if 2 * len(found) <= len(loads) else []


def _neighbours(hours: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for hour in hours:
        if found and found[-1][1] == hour - 1:
            found[-1] = found[-1][0], hour
        else:
            found.append((hour, hour))
    return found


def overruns(groups: Iterable[Group]) -> tuple[Overrun, ...]:
    """Return the schedules whose p95 is longer than their shortest interval, by name."""
    found = [
        Overrun(name, timedelta(seconds=interval), group.pattern.durations, group.pattern.overlap)
        for group in groups
        if (interval := group.slots.interval) is not None
        and group.pattern.durations.p95 > timedelta(seconds=interval)
        for name in group.names
    ]
    return tuple(sorted(found, key=lambda each: each.name))


def _minutes_of_day(window: Window) -> list[int]:
    """Return the minute of the day of each minute of a window, in the zone of the window."""
    offset_at: Callable[[int], int] = zone(window.timezone).offset_at
    first = seconds_of(window.start)
    seconds = range(first, first + window.seconds, MINUTE)
    return [(second + offset_at(second)) // MINUTE % (DAY_HOURS * MINUTE) for second in seconds]
