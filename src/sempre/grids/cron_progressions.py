"""Lists the slots of a cron rule as arithmetic progressions: a week of `*/5 * * * *` is one.

A forecast over 100,000 schedules adds progressions up; slot by slot would take minutes.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from sempre.grids.cron_count import SlotCounter
from sempre.grids.cron_walls import DAY, WallRule
from sempre.grids.zones import Timeline

__all__ = ["cron_progressions"]

HOUR = 3600
Run = tuple[int, int, int]
"""The first second, the step and the count of evenly spaced seconds."""


def cron_progressions(
    rule: WallRule, line: Timeline, after: int, until: int, *, made_up: int
) -> Iterator[Run]:
    """Yield the slots after one UTC second and not after another, by the rules of `Cron.after`."""
    counter = SlotCounter(rule, line, made_up=made_up)
    for span in range(line.span_at(after), line.span_at(until) + 1):
        if after < line.starts[span] <= until and counter.has_made_up(span):
            yield line.starts[span], 1, 1
        offset = line.offsets[span]
        begin = max(after + 1 + offset, line.opens[span])
        end = min(until + 1 + offset, line.closes[span])
        if begin < end:
            for first, step, count in _walls(rule, begin, end):
                yield first - offset, step, count


def _walls(rule: WallRule, begin: int, end: int) -> Iterator[Run]:
    """Yield the matching wall seconds from `begin` up to but without `end`."""
    parts, is_every_day = _parts_of_day(rule.minutes, rule.seconds), rule.meaning.is_every_day
    days = range(begin // DAY, (end - 1) // DAY + 1)
    wanted = days if is_every_day else [day for day in days if rule.matches(day)]
    runs = [(days[0], days[-1])] if is_every_day else list(_runs(wanted))
    for first, step, count in parts:
        if is_every_day and step * count == DAY:
            yield from _clipped(first, step, begin, end)
        elif count > len(wanted):
            for day in wanted:
                yield from _part_of_day(first + day * DAY, step, count, begin, end)
        else:
            for second in range(first, first + step * count, step):
                yield from _same_second(second, runs, begin, end)


def _part_of_day(first: int, step: int, count: int, begin: int, end: int) -> Iterator[Run]:
    low = max(0, -((first - begin) // step))
    high = min(count, -((first - end) // step))
    if low < high:
        yield first + low * step, step, high - low


def _same_second(
    second: int, runs: Sequence[tuple[int, int]], begin: int, end: int
) -> Iterator[Run]:
    """Yield one second of the day on the days of these runs."""
    low, high = -((second - begin) // DAY), (end - 1 - second) // DAY
    for first, last in runs:
        count = min(last, high) - max(first, low) + 1
        if count > 0:
            yield max(first, low) * DAY + second, DAY, count


def _clipped(first: int, step: int, begin: int, end: int) -> Iterator[Run]:
    """Yield the part of an endless progression that lies in a period."""
    first = begin + (first - begin) % step
    if first < end:
        yield first, step, (end - 1 - first) // step + 1


def _runs(days: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive days."""
    first = None
    for place, day in enumerate(days):
        first = day if first is None else first
        if place + 1 == len(days) or days[place + 1] != day + 1:
            yield first, day
            first = None


@lru_cache(maxsize=4096)
def _parts_of_day(minutes: int, seconds: int) -> tuple[Run, ...]:
    """Return the matching seconds of a day as progressions.

    All seconds are one progression if they are evenly spaced. If not, each minute and second of
    the hour is one, over the hours that match.
    """
    chosen = [second for second in range(60) if seconds >> second & 1]
    found = [
        minute * 60 + second
        for minute in range(minutes.bit_length())
        if minutes >> minute & 1
        for second in chosen
    ]
    whole = _even(found)
    if whole:
        return (whole,)
    by_place: dict[int, list[int]] = {}
    for second in found:
        by_place.setdefault(second % HOUR, []).append(second)
    parts: list[Run] = []
    for some in by_place.values():
        even = _even(some)
        parts += [even] if even else [(each, DAY, 1) for each in some]
    return tuple(parts)


def _even(seconds: Sequence[int]) -> Run | None:
    """Return evenly spaced seconds as one progression; None if their distance varies."""
    if len(seconds) == 1:
        return seconds[0], DAY, 1
    step = seconds[1] - seconds[0]
    if seconds[-1] - seconds[0] != step * (len(seconds) - 1):
        return None
    even = all(after - before == step for before, after in pairwise(seconds))
    return (seconds[0], step, len(seconds)) if even else None
