"""`Cron`: the instants at which the wall clock of a zone shows a matching time.

Owns walking through time. The walk looks at whole spans of constant offset: inside one, the
wall clock is a plain count of seconds; between two lie the gap or the fold.
"""

from bisect import bisect_right
from datetime import MAXYEAR, date, datetime, timedelta
from typing import Any

from sempre.grids.cron_count import SlotCounter
from sempre.grids.cron_fields import length_of_month, lowest
from sempre.grids.cron_text import read_cron
from sempre.grids.explain import explain_cron
from sempre.grids.grid import Grid, Passed, SetOnce
from sempre.grids.instants import (
    EARLIEST,
    EPOCH,
    EPOCH_DAY,
    LATEST,
    check_calendar,
    not_an_instant,
    seconds_of,
)
from sempre.grids.notes import cron_notes
from sempre.grids.zones import Fold, Timeline, check_fold, check_gap, zone

__all__ = ["Cron"]

DAY = 86_400
END = LATEST * DAY
NO_DAY = 2**40
# Debian's cron makes up for a skipped time only when the clock jumped by less than this.
LONGEST_MADE_UP = 3 * 3600


class Cron(SetOnce, Grid, name="cron"):
    """Fires whenever the wall clock of a zone shows a matching time.

    Five fields (minute hour day month weekday), six with seconds in front, or an alias such as
    @daily; a zone at the end of the text wins over `timezone`. When both day and weekday are
    restricted either suffices, unless one begins with `*`, as in Debian's cron.

    A fixed time that the clock skips runs once, at the first instant after the gap
    (`gap="shift"`; not if the gap is over three hours), or not at all ("skip"). One that the
    clock shows twice runs the "first" time, the "last" or "both" times. With `*` in seconds,
    minutes or hours it runs at every showing of a match, whatever `gap` and `fold` say.

    >>> nightly = Cron("30 2 * * *", timezone="Europe/Rome")
    >>> for slot in nightly.times(datetime.fromisoformat("2026-03-28T00:00Z"), 3):
    ...     print(slot)
    2026-03-28 01:30:00+00:00
    2026-03-29 01:00:00+00:00
    2026-03-30 00:30:00+00:00

    Raises:
        CronError: the text cannot be read; NeverFires if it matches no date at all.
        ZoneError: the zone is unknown.
        PolicyError: gap or fold is not one of the words above.
    """

    __slots__ = (
        "_days",
        "_every_day",
        "_first",
        "_line",
        "_made_up",
        "_meaning",
        "_minutes",
        "_months",
        "_seconds",
        "_zone",
        "fold",
        "gap",
        "text",
        "timezone",
    )

    def __init__(
        self, text: str, *, timezone: str = "UTC", gap: str = "shift", fold: str = "first"
    ) -> None:
        """Read the text and lay out the masks once."""
        self.text, meaning, named_zone = read_cron(text)
        self._meaning = meaning
        self._zone = zone(named_zone or timezone)
        self.timezone = self._zone.name
        self.gap = check_gap(gap)
        self.fold = check_fold(fold)
        self._line = self._zone.timeline(self._showings)
        shifts = self.gap == "shift" and not meaning.follows_clock
        self._made_up = LONGEST_MADE_UP if shifts else -1
        self._seconds = meaning.seconds
        self._minutes = meaning.minutes_of_day()
        self._first = lowest(self._minutes) * 60 + lowest(self._seconds)
        self._every_day = meaning.is_every_day
        self._months = meaning.months
        self._days: dict[tuple[int, int], int] = {}

    def after(self, t: datetime) -> datetime | None:
        """Return the first slot strictly later than `t`; None past the year 9999."""
        try:
            since = t - EPOCH
        except TypeError:
            raise not_an_instant("t", t) from None
        if not EARLIEST <= since.days < LATEST:
            check_calendar("t", t)
            return None
        found = self._after(since.days * DAY + since.seconds)
        return None if found >= END else EPOCH + timedelta(0, found)

    def passed(self, after: datetime, until: datetime) -> Passed | None:
        """Return first, last and count of the slots between, counted by days, not one by one."""
        first = self.after(after)
        if first is None or first > until:
            return None
        begin, end = seconds_of(after), seconds_of(until)
        line = self._line_for(end)
        counter = SlotCounter(self._meaning, line, made_up=self._made_up)
        last = EPOCH + timedelta(0, counter.last(begin, end))
        return Passed(first, last, counter.count(begin, end))

    def explain(self) -> str:
        """Say in plain English when this grid fires."""
        return explain_cron(self._meaning, self._zone)

    def notes(self) -> tuple[str, ...]:
        """Return what may surprise a person about this grid."""
        return cron_notes(self.text, self._meaning, self._zone, gap=self.gap, fold=self.fold)

    def parameters(self) -> dict[str, Any]:
        """Return the arguments as JSON values."""
        chosen = {"timezone": self.timezone, "gap": self.gap, "fold": self.fold}
        return {"text": self.text, **chosen}

    def identity(self) -> tuple[object, ...]:
        """Return what equal grids have in common: the meaning of the text, not its spelling."""
        return (Cron, self._meaning, self.timezone, self.gap, self.fold)

    def __repr__(self) -> str:
        """Write it as code."""
        return f"Cron({self.text!r}, timezone={self.timezone!r})"

    @property
    def _showings(self) -> Fold:
        return "both" if self._meaning.follows_clock else self.fold

    def _line_for(self, second: int) -> Timeline:
        line = self._line
        return line if second < line.reach else self._zone.timeline(self._showings, reach=second)

    def _after(self, second: int) -> int:
        """Return the first UTC second of a slot after a UTC second; END or more if none."""
        line = self._line if second < self._line.reach else self._line_for(second)
        at = bisect_right(line.starts, second) - 1
        # In a fold the first seconds of the span may belong to the one before.
        wall = self._next_wall(max(second + line.offsets[at], line.opens[at] - 1))
        while wall >= line.closes[at]:
            at += 1
            opens, closed = line.opens[at], line.closes[at - 1]
            if wall < opens and opens - closed <= self._made_up:
                return line.starts[at]
            if wall < opens or opens < closed:
                wall = self._next_wall(opens - 1)
        return wall - line.offsets[at]

    def _next_wall(self, wall: int) -> int:
        """Return the first matching wall second after a wall second, as if no clock changed."""
        day, second = divmod(wall, DAY)
        if self._every_day or self._matches(day):
            minute, second = divmod(second, 60)
            rest = self._seconds >> second + 1
            if rest and self._minutes >> minute & 1:
                return wall + (rest & -rest).bit_length()
            rest = self._minutes >> minute + 1
            if rest:
                minute += (rest & -rest).bit_length()
                return day * DAY + minute * 60 + self._first % 60
        return self._next_day(day) * DAY + self._first

    def _matches(self, day: int) -> int:
        civil = date.fromordinal(day + EPOCH_DAY)
        return self._days_of(civil.year, civil.month) >> civil.day & 1

    def _next_day(self, day: int) -> int:
        if self._every_day:
            return day + 1
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
            days = self._days[shape] = self._meaning.days_of_month(*shape)
        return days
