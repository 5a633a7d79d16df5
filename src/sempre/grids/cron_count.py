"""Counts the slots of a cron rule in a period, day by day instead of one by one.

After a downtime of a month a worker has to count the missed slots of a one-second schedule: 2.6
million, too many to step through.
"""

from bisect import bisect_right

from sempre.grids.cron_walls import DAY, WallRule
from sempre.grids.zones import Timeline

__all__ = ["SlotCounter"]


class SlotCounter:
    """Counts and finds slots by the same rules as `Cron.after`, over UTC seconds."""

    def __init__(self, rule: WallRule, line: Timeline, *, made_up: int) -> None:
        """Take the rule, its timeline and the longest gap after which a skipped time still runs."""
        self._rule = rule
        self._line = line
        self._made_up = made_up
        self._seconds_a_minute = rule.seconds.bit_count()
        self._a_day = rule.minutes.bit_count() * self._seconds_a_minute

    def count(self, after: int, until: int) -> int:
        """Return how many slots lie after one second and not after another."""
        spans = range(bisect_right(self._line.starts, after) - 1, self._last_span(until) + 1)
        return sum(self._count_span(span, after, until) for span in spans)

    def last(self, after: int, until: int) -> int:
        """Return the last slot of a period that has at least one slot."""
        back = 1
        while until - back > after and not self.count(until - back, until):
            back *= 2
        low, high = max(after, until - back), until
        # A slot lies after low and none after high: narrow down to the slot itself.
        while high - low > 1:
            middle = (low + high) // 2
            if self.count(middle, until):
                low = middle
            else:
                high = middle
        return high

    def _last_span(self, second: int) -> int:
        return bisect_right(self._line.starts, second) - 1

    def _count_span(self, span: int, after: int, until: int) -> int:
        line, offset = self._line, self._line.offsets[span]
        begin = max(after + 1 + offset, line.opens[span])
        end = min(until + 1 + offset, line.closes[span])
        counted = self._count_walls(begin, end)
        if after < line.starts[span] <= until:
            counted += self.has_made_up(span)
        return counted

    def has_made_up(self, span: int) -> bool:
        """Whether the span begins with the run of a time that the gap before it skipped."""
        closed, opens = self._line.closes[span - 1], self._line.opens[span]
        in_gap = 0 < opens - closed <= self._made_up and self._count_walls(closed, opens)
        return bool(in_gap) and not self._count_walls(opens, opens + 1)

    def _count_walls(self, begin: int, end: int) -> int:
        """Return the matching wall seconds from `begin` up to but without `end`."""
        if end <= begin:
            return 0
        first, from_second = divmod(begin, DAY)
        last, to_second = divmod(end, DAY)
        whole = sum(self._rule.matches(day) for day in range(first, last)) * self._a_day
        before = self._count_before(from_second) if self._rule.matches(first) else 0
        within = self._count_before(to_second) if to_second and self._rule.matches(last) else 0
        return whole - before + within

    def _count_before(self, second: int) -> int:
        """Return the matching seconds of a matching day before one of its seconds."""
        minute, rest = divmod(second, 60)
        counted = (self._rule.minutes & (1 << minute) - 1).bit_count() * self._seconds_a_minute
        if self._rule.minutes >> minute & 1:
            counted += (self._rule.seconds & (1 << rest) - 1).bit_count()
        return counted
