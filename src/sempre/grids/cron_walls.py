"""Finds the next match of a cron rule on a wall clock without clock changes, by bit masks.

`cron` applies the clock changes of a zone.
"""

from datetime import MAXYEAR, date

from sempre.grids.cron_fields import CronFields, length_of_month, lowest
from sempre.grids.instants import EPOCH_DAY

__all__ = ["WallRule"]

DAY = 86_400
# Past every calendar, and still an ordinary number of seconds.
NO_DAY = 2**40


class WallRule:
    """The matches of a cron rule in wall seconds since 1970. Immutable but for a memo of months.

    Attributes:
        meaning: the fields it was made from.
        minutes: the mask of the minutes of a day, 0-1439.
        seconds: the mask of the seconds of a minute.
    """

    __slots__ = ("_days", "_every_day", "_first", "_months", "meaning", "minutes", "seconds")

    def __init__(self, meaning: CronFields) -> None:
        """Lay out the masks once."""
        self.meaning = meaning
        self.seconds = meaning.seconds
        self.minutes = meaning.minutes_of_day()
        self._first = lowest(self.minutes) * 60 + lowest(self.seconds)
        self._every_day = meaning.is_every_day
        self._months = meaning.months
        # The first weekday and the length determine the days of a month: 28 cases at most.
        self._days: dict[tuple[int, int], int] = {}

    def after(self, wall: int) -> int:
        """Return the first match strictly after a wall second; beyond every calendar if none."""
        day, second = divmod(wall, DAY)
        if self._every_day or self.matches(day):
            minute, second = divmod(second, 60)
            rest = self.seconds >> second + 1
            if rest and self.minutes >> minute & 1:
                return wall + (rest & -rest).bit_length()
            rest = self.minutes >> minute + 1
            if rest:
                minute += (rest & -rest).bit_length()
                return day * DAY + minute * 60 + self._first % 60
        if self._every_day:
            return (day + 1) * DAY + self._first
        return self._next_day(day) * DAY + self._first

    def matches(self, day: int) -> int:
        """Return 1 if a day, counted from 1970, is one that matches, else 0."""
        civil = date.fromordinal(day + EPOCH_DAY)
        return self._days_of(civil.year, civil.month) >> civil.day & 1

    def _next_day(self, day: int) -> int:
        civil = date.fromordinal(day + EPOCH_DAY)
        year, month, number = civil.year, civil.month, civil.day
        while not (rest := self._days_of(year, month) >> number + 1):
            number = 0
            later = self._months >> month + 1
            if later:
                month += 1 + lowest(later)
            else:
                year, month = year + 1, lowest(self._months)
            if year > MAXYEAR:
                return NO_DAY
        return date(year, month, number + 1 + lowest(rest)).toordinal() - EPOCH_DAY

    def _days_of(self, year: int, month: int) -> int:
        if not self._months >> month & 1:
            return 0
        shape = date(year, month, 1).weekday(), length_of_month(year, month)
        days = self._days.get(shape)
        if days is None:
            days = self._days[shape] = self.meaning.days_of_month(*shape)
        return days
