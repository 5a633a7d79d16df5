"""What a cron text means, as bit masks: bit n of a field is set when n matches.

`cron_text` reads the text; `cron` searches for the next slot.
"""

from calendar import isleap
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

__all__ = ["LENGTHS", "CronFields", "bits", "length_of_month", "lowest"]

SATURDAY, SUNDAY = 5, 6
FEBRUARY = 2
LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class CronFields(NamedTuple):
    """A cron text read. Weekdays count from Sunday = 0, as cron does.

    Attributes:
        seconds: mask of 0-59.
        minutes: mask of 0-59.
        hours: mask of 0-23.
        days: mask of 1-31.
        months: mask of 1-12.
        weekdays: mask of 0-6.
        days_from_end: mask of 1-31; bit 1 is the last day of the month.
        nearest: days whose nearest Monday to Friday matches; negative ones from the end.
        nth_weekdays: (weekday, n) pairs; n counts from the end if negative.
        any_day: the day field begins with `*`.
        any_weekday: the weekday field begins with `*`.
        follows_clock: seconds, minutes or hours begin with `*`: runs at every showing of a match.
    """

    seconds: int
    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int
    days_from_end: int = 0
    nearest: tuple[int, ...] = ()
    nth_weekdays: tuple[tuple[int, int], ...] = ()
    any_day: bool = False
    any_weekday: bool = False
    follows_clock: bool = False

    @property
    def is_every_day(self) -> bool:
        """Whether every day of every month matches."""
        every = bits(range(1, 13)), bits(range(1, 32)), bits(range(7))
        return (self.months, self.days, self.weekdays) == every and (
            self.any_day or self.any_weekday
        )

    def minutes_of_day(self) -> int:
        """Return the mask of 0-1439: the minutes of a day in which a second can match."""
        return sum(self.minutes << 60 * hour for hour in range(24) if self.hours >> hour & 1)

    def days_of_month(self, first_weekday: int, length: int) -> int:
        """Return the mask of matching days in a month that begins on a weekday (Monday = 0)."""
        by_day = self._by_day(first_weekday, length)
        by_weekday = self._by_weekday(first_weekday, length)
        # Vixie's rule: a field that begins with * does not restrict, so both must match;
        # when both fields restrict, either of them suffices.
        either = not (self.any_day or self.any_weekday)
        return by_day | by_weekday if either else by_day & by_weekday

    def days_in(self, year: int, month: int) -> int:
        """Return the mask of matching days in a month of a year."""
        if not self.months >> month & 1:
            return 0
        return self.days_of_month(date(year, month, 1).weekday(), length_of_month(year, month))

    def ever_matches(self) -> bool:
        """Whether any date of any year matches. Every month begins on every weekday."""
        return any(
            self.days_of_month(weekday, length)
            for month in range(1, 13)
            if self.months >> month & 1
            for length in _lengths(month)
            for weekday in range(7)
        )

    def _by_day(self, first_weekday: int, length: int) -> int:
        from_end = (length + 1 - n for n in range(1, length + 1) if self.days_from_end >> n & 1)
        nearest = (_nearest_workday(day, first_weekday, length) for day in self.nearest)
        return (self.days | bits(from_end) | bits(nearest)) & bits(range(1, length + 1))

    def _by_weekday(self, first_weekday: int, length: int) -> int:
        # Python counts weekdays from Monday = 0, cron from Sunday = 0.
        matching = (
            day for day in range(1, length + 1) if self.weekdays >> (first_weekday + day) % 7 & 1
        )
        nth = (_nth_weekday(weekday, n, first_weekday, length) for weekday, n in self.nth_weekdays)
        return (bits(matching) | bits(nth)) & bits(range(1, length + 1))


def bits(numbers: Iterable[int]) -> int:
    """Return the mask with these bits set."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def lowest(mask: int) -> int:
    """Return the number of the lowest bit that is set; -1 if none is."""
    return (mask & -mask).bit_length() - 1


def length_of_month(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return 29 if month == FEBRUARY and isleap(year) else LENGTHS[month]


def _lengths(month: int) -> tuple[int, ...]:
    return (28, 29) if month == FEBRUARY else (LENGTHS[month],)


def _nth_weekday(weekday: int, n: int, first_weekday: int, length: int) -> int:
    """Return the day of the month, or 0 if the month has no such day."""
    first = 1 + (weekday - 1 - first_weekday) % 7
    in_month = (length - first) // 7 + 1
    day = first + 7 * (n - 1 if n > 0 else in_month + n)
    return day if 1 <= day <= length else 0


def _nearest_workday(day: int, first_weekday: int, length: int) -> int:
    """Return the Monday to Friday nearest to a day, in the same month; 0 without such a day."""
    day = length + 1 + day if day < 0 else day
    if not 1 <= day <= length:
        return 0
    weekday = (first_weekday + day - 1) % 7
    if weekday == SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == SUNDAY:
        return day + 1 if day < length else day - 2
    return day
