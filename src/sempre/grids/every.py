"""`Every`: anchor + N * interval, from the anchor each time, so it never drifts.

N is computed, not counted up to, so that an old anchor costs no more than a recent one.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import MAXYEAR, UTC, date, datetime
from typing import Any

from sempre.grids.clock_changes import ClockEffect, clock_changes, every_effect
from sempre.grids.cron_fields import LENGTHS, length_of_month
from sempre.grids.explain import explain_every
from sempre.grids.grid import Grid, Passed, Progression, SetOnce
from sempre.grids.instants import (
    EPOCH,
    EPOCH_DAY,
    LATEST,
    MICROSECOND,
    as_instant,
    instant_of,
    microseconds_of,
    read_moment,
    since_epoch,
)
from sempre.grids.intervals import ELAPSED, SECONDS, read_interval
from sempre.grids.warnings import every_notes
from sempre.grids.zones import (
    FIRST_REACH,
    UNSTATED,
    Timeline,
    Unstated,
    check_fold,
    check_gap,
    shown_policies,
    zone,
)

__all__ = ["DEFAULT_ANCHOR", "Every"]

SECOND = 1_000_000
DAY = 86_400 * SECOND
END = LATEST * DAY
# A Monday and the first of a month and year, so that weeks, months and years begin as expected.
DEFAULT_ANCHOR = datetime(2001, 1, 1)  # noqa: DTZ001 - wall time of the grid's zone
"""The anchor of a grid that states none: Monday 2001-01-01 00:00, on the clocks of its zone."""


class Every(SetOnce, Grid, name="every"):
    """Fires at anchor + N * interval for every whole N from 0 on.

    Seconds, minutes and hours are elapsed time. Days and longer keep the wall clock of the zone;
    a month without the anchor's day takes its last day. A wall time that the clock skips moves
    by the length of the gap (`gap="shift"`) or is left out ("skip"); one it shows twice counts
    the "first" time, the "last" or "both" times.

    >>> monthly = Every("1 month", anchor="2026-01-31 09:00", timezone="Europe/Rome")
    >>> for slot in monthly.times(datetime.fromisoformat("2026-01-01T00:00Z"), 3):
    ...     print(slot)
    2026-01-31 08:00:00+00:00
    2026-02-28 08:00:00+00:00
    2026-03-31 07:00:00+00:00

    Args:
        interval: a text ("15m", "1 month"), a timedelta, a number of seconds, or a number of
            `unit`. A timedelta is elapsed time, also one of 24 hours.
        unit: seconds, minutes, hours, days, weeks, months or years.
        anchor: a datetime or ISO text; without an offset it is wall time of the zone. By default
            Monday 2001-01-01 00:00. Nothing fires before it.
        timezone: an IANA name; by default that of the application, which is UTC unless it says so.
        gap: what becomes of a wall time that does not exist, for days and longer.
        fold: which of two equal wall times counts, for days and longer.

    Raises:
        InvalidInput: one of its subclasses, naming the argument and the remedy.
    """

    __slots__ = (
        "_clock",
        "_day",
        "_early",
        "_keeps_origin",
        "_late",
        "_month",
        "_months",
        "_origin",
        "_step",
        "_wall",
        "_zone",
        "anchor",
        "fold",
        "gap",
        "interval",
        "is_elapsed",
        "is_zoned",
        "timezone",
    )

    def __init__(
        self,
        interval: object,
        unit: object = None,
        *,
        anchor: datetime | date | str | None = None,
        timezone: str = UNSTATED,
        gap: str = "shift",
        fold: str = "first",
    ) -> None:
        """Check every argument and prepare the arithmetic."""
        self.interval = read_interval(interval, unit)
        self._zone = zone(timezone)
        self.timezone = self._zone.name
        self.is_zoned = not isinstance(timezone, Unstated)
        self.gap = check_gap(gap)
        self.fold = check_fold(fold)
        self.anchor = None if anchor is None else read_moment("anchor", anchor)
        self.is_elapsed = self.interval.unit in ELAPSED
        count, name = self.interval.count, self.interval.unit
        self._months = count * {"months": 1, "years": 12}.get(name, 0)
        self._step = count * SECONDS.get(name, 0) * SECOND
        self._early = self._zone.timeline("last" if fold == "last" else "first")
        self._late = fold == "both"
        moment = self.anchor or DEFAULT_ANCHOR
        self._keeps_origin = moment.utcoffset() is not None
        self._wall, self._origin = self._place(moment)
        self._month = self._wall_time.year * 12 + self._wall_time.month - 1
        self._day = self._wall_time.day
        self._clock = self._wall % DAY

    def after(self, t: datetime) -> datetime | None:
        """Return the first slot strictly later than `t`; None past the year 9999."""
        since = since_epoch(t)
        if since is None:
            return None
        micros = (since.days * 86_400 + since.seconds) * SECOND + since.microseconds
        found = self._elapsed_after(micros) if self.is_elapsed else self._calendar_after(micros)
        return None if found >= END else EPOCH + found * MICROSECOND

    def _passed(self, after: datetime, until: datetime) -> Passed | None:
        first = self.after(after)
        if first is None or first > until or not self.is_elapsed:
            return super()._passed(after, until)
        step = self._step * MICROSECOND
        more = (until - first) // step
        return Passed(first, first + more * step, 1 + more)

    def _progressions(self, after: datetime, until: datetime) -> Iterator[Progression]:
        if not self.is_elapsed:
            yield from super()._progressions(after, until)
        elif passed := self._passed(after, until):
            yield Progression(passed.first, self._step * MICROSECOND, passed.count)

    def explain(self) -> str:
        """Say in plain English when this grid fires."""
        stated = self.anchor is not None
        return explain_every(self.interval, self._wall_time, self._zone, stated=stated)

    def notes(self) -> tuple[str, ...]:
        """Return what may surprise a person about this grid."""
        return every_notes(self.interval, self._wall_time, self._zone, gap=self.gap, fold=self.fold)

    def at_clock_changes(self, start: datetime, end: datetime) -> list[ClockEffect]:
        """Return what the clock changes between two instants do to slots."""
        effects = (
            every_effect(each, self.interval, self._wall_time, gap=self.gap, fold=self.fold)
            for each in clock_changes(self.timezone, start, end)
        )
        return [each for each in effects if each is not None]

    def parameters(self) -> dict[str, Any]:
        """Return the arguments as JSON values."""
        return {
            "interval": self.interval.count,
            "unit": self.interval.unit,
            "anchor": None if self.anchor is None else self.anchor.isoformat(),
            "timezone": self.timezone,
            "gap": self.gap,
            "fold": self.fold,
        }

    def in_zone(self, timezone: str) -> Grid:
        """Return the grid in a zone, unless the grid states its own zone."""
        if self.is_zoned or timezone == self.timezone:
            return self
        return Every(**{**self.parameters(), "timezone": timezone})

    def identity(self) -> tuple[object, ...]:
        """Return the value that equal grids share: the arithmetic, not the spelling."""
        rule = (self._step, self._months, self.is_elapsed, self._wall, self._origin)
        return (type(self), rule, self.timezone, self.gap, self.fold)

    def __repr__(self) -> str:
        """Write the grid as code."""
        anchor = "" if self.anchor is None else f", anchor={self.anchor.isoformat(' ')!r}"
        zone_name = f"timezone={self.timezone!r}{shown_policies(self)}"
        return f"Every({str(self.interval)!r}{anchor}, {zone_name})"

    @property
    def _wall_time(self) -> datetime:
        return instant_of(self._wall).replace(tzinfo=None)

    def _place(self, moment: datetime) -> tuple[int, int]:
        """Return the anchor as wall time and as an instant, both in microseconds."""
        if self._keeps_origin:
            origin = microseconds_of(as_instant("anchor", moment))
            return origin + self._zone.offset_at(origin // SECOND) * SECOND, origin
        wall = microseconds_of(moment.replace(tzinfo=UTC))
        return wall, wall - self._line(wall // SECOND).offset_of(wall // SECOND) * SECOND

    def _elapsed_after(self, micros: int) -> int:
        if micros < self._origin:
            return self._origin
        return micros + self._step - (micros - self._origin) % self._step

    def _calendar_after(self, micros: int) -> int:
        """Return the first instant of a slot after an instant; END or more if there is none."""
        second = micros // SECOND
        line = self._early if second < self._early.reach else self._line(second)
        span = bisect_right(line.starts, second) - 1
        offset, opens, closes = line.offsets[span], line.opens[span], line.closes[span]
        number = self._number_before(micros + offset * SECOND)
        first_plain = 1 if self._keeps_origin else 0
        while (wall := self._wall_at(number)) < END:
            if opens <= wall // SECOND < closes and number >= first_plain and not self._late:
                # Shown in the very span that the question comes from, and only there.
                if wall - offset * SECOND > micros:
                    return wall - offset * SECOND
            else:
                for instant in self._instants(number, wall):
                    if instant > micros:
                        return instant
            number += 1
        return END

    def _number_before(self, wall: int) -> int:
        """Return the first N whose slot may still be to come."""
        if self._step:
            return max(0, (wall - self._wall) // self._step)
        # From the day before: a gap may have moved a slot of that day; earlier slots have passed.
        day = date.fromordinal(wall // DAY - 1 + EPOCH_DAY)
        behind = self._month - day.year * 12 - day.month + 1
        if self._day < day.day:
            behind -= 1
        return max(0, -(behind // self._months))

    def _wall_at(self, number: int) -> int:
        """Return the wall time of point N in microseconds; END or more past the calendar."""
        if self._step:
            return self._wall + number * self._step
        year, month = divmod(self._month + number * self._months, 12)
        if year > MAXYEAR:
            return END
        month += 1
        day = self._day
        if day > LENGTHS[month]:
            day = min(day, length_of_month(year, month))
        return (date(year, month, day).toordinal() - EPOCH_DAY) * DAY + self._clock

    def _instants(self, number: int, wall: int) -> tuple[int, ...]:
        """Return the instants of point N in order: one, or none in a gap, or two in a fold."""
        if number == 0 and self._keeps_origin:
            return self._showings_of_anchor()
        second = wall // SECOND
        line = self._line(second)
        if self.gap == "skip" and not line.shows(second):
            return ()
        early = wall - line.offset_of(second) * SECOND
        return (early, self._again(wall)) if self._late else (early,)

    def _showings_of_anchor(self) -> tuple[int, ...]:
        """Return the anchor's own instant, which it states, and a second showing if wanted."""
        if not self._late:
            return (self._origin,)
        return self._origin, max(self._origin, self._again(self._wall))

    def _line(self, second: int) -> Timeline:
        """Return the timeline of the first showing that counts, listed as far as asked for."""
        line = self._early
        if second < line.reach:
            return line
        return self._zone.timeline("last" if self.fold == "last" else "first", reach=second)

    def _again(self, wall: int) -> int:
        """Return the instant of the last showing of a wall time."""
        second = wall // SECOND
        line = self._zone.timeline("last", reach=max(second, FIRST_REACH))
        return wall - line.offset_of(second) * SECOND
