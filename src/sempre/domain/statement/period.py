"""Periods: the month of a statement, on the wall clock of a zone."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sempre.errors import InstantError
from sempre.grids.relative_instants import read_in_zone

__all__ = ["Period", "month_period"]

_MONTH = re.compile(r"(\d{4})-(\d{2})")
DECEMBER = 12


@dataclass(frozen=True)
class Period:
    """A month of a zone.

    Attributes:
        month: as in 2026-03.
        zone: the time zone whose calendar decides.
        start: the first instant.
        end: the first instant after the month.
    """

    month: str
    zone: str
    start: datetime
    end: datetime

    def holds(self, instant: datetime) -> bool:
        """Whether an instant lies in the month."""
        return self.start <= instant < self.end

    def has_whole(self, day: date) -> bool:
        """Whether every instant of a UTC day lies in the month."""
        begin = datetime(day.year, day.month, day.day, tzinfo=self.start.tzinfo)
        return self.start <= begin and begin + timedelta(days=1) <= self.end


def month_period(month: str, zone: str) -> Period:
    """Return a month on the calendar of a zone.

    Raises:
        InstantError: the text is no month.
        ZoneError: the zone is unknown.
    """
    found = _MONTH.fullmatch(month)
    year, number = map(int, found.groups()) if found else (0, 0)
    if not year or not 1 <= number <= DECEMBER:
        raise InstantError("month", month, allowed="a month, such as 2026-03")
    start = read_in_zone("month", f"{month}-01 00:00", zone)
    following = (year + 1, 1) if number == DECEMBER else (year, number + 1)
    end = read_in_zone("month", "{:04}-{:02}-01 00:00".format(*following), zone)
    return Period(month, zone, start, end)
