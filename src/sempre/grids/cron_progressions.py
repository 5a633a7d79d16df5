"""Lists the slots of a cron rule as arithmetic progressions: a week of `*/5 * * * *` is one.

A forecast over 100,000 schedules adds progressions up; slot by slot would take minutes.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sempre.grids.cron_count import SlotCounter
from sempre.grids.cron_walls import DAY, WallRule
from sempre.grids.zones import Timeline

__all__ = ["cron_progressions"]

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
    seconds, step = _seconds_of_day(rule.minutes, rule.seconds)
    days = range(begin // DAY, (end - 1) // DAY + 1)
    if rule.meaning.is_every_day and step * len(seconds) == DAY:
        yield from _clipped(seconds[0], step, begin, end)
        return
    wanted = [day for day in days if rule.meaning.is_every_day or rule.matches(day)]
    if step and len(seconds) > len(wanted):
        for day in wanted:
            inside = _within(seconds, begin - day * DAY, end - day * DAY)
            if inside:
                yield day * DAY + inside[0], step, len(inside)
        return
    runs = list(_runs(wanted))
    for second in seconds:
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


def _within(seconds: Sequence[int], low: int, high: int) -> Sequence[int]:
    return seconds[bisect_left(seconds, low) : bisect_right(seconds, high - 1)]


def _runs(days: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive days."""
    first = None
    for place, day in enumerate(days):
        first = day if first is None else first
        if place + 1 == len(days) or days[place + 1] != day + 1:
            yield first, day
            first = None


@lru_cache(maxsize=4096)
def _seconds_of_day(minutes: int, seconds: int) -> tuple[tuple[int, ...], int]:
    """Return the matching seconds of a day, and their distance: 0 if the distance varies."""
    chosen = [second for second in range(60) if seconds >> second & 1]
    found = tuple(
        minute * 60 + second
        for minute in range(minutes.bit_length())
        if minutes >> minute & 1
        for second in chosen
    )
    if len(found) == 1:
        return found, DAY
    step = found[1] - found[0]
    even = found == tuple(range(found[0], found[-1] + 1, step))
    return found, step if even else 0
