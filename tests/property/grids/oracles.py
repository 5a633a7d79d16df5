"""What the grids should answer, worked out the slow way.

Nothing of `sempre` is imported here. Zones are the standard library's reading of the same tzdata
package, cron texts are matched one wall-clock second at a time, and anchor grids are added up by
dateutil and placed in time by whenever.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

import whenever
from dateutil.relativedelta import relativedelta

# The zones of the package, not those of the operating system, which may be of another year.
whenever.reset_tzpath(())

MINUTE, HOUR, DAY = 60, 3600, 86_400
LONGEST_MADE_UP = 3 * HOUR
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
ELAPSED = ("seconds", "minutes", "hours")
Disambiguation = Literal["compatible", "earlier", "later"]


# Zones


@cache
def zone_names() -> tuple[str, ...]:
    """Return every zone of the tzdata package, links included."""
    return tuple(resources.files("tzdata").joinpath("zones").read_text("ascii").split())


@cache
def zone_content(name: str) -> bytes:
    """Return the compiled zone; links have the content of what they point to."""
    return resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


@cache
def zone(name: str) -> ZoneInfo:
    """Return the standard library's reading of a zone of the tzdata package."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def utc(second: float) -> datetime:
    """Return the aware UTC datetime of a count of seconds since 1970."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


def second_of(instant: datetime) -> int:
    """Return an aware datetime as seconds since 1970, rounded down."""
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def offset_at(name: str, second: int) -> int:
    """Return the seconds east of UTC at a UTC second."""
    offset = utc(second).astimezone(zone(name)).utcoffset()
    return 0 if offset is None else offset // timedelta(seconds=1)


class Change(NamedTuple):
    """A clock change: the UTC second it happens at, and the offsets before and from then on."""

    at: int
    before: int
    after: int

    @property
    def jump(self) -> int:
        """Seconds that the clock skips; negative for those it repeats."""
        return self.after - self.before


@lru_cache(maxsize=20_000)
def changes(name: str, start: int, end: int, step: int = HOUR) -> tuple[Change, ...]:
    """Return the changes after `start` and not after `end`, looking at every `step` of time."""
    found = []
    left, before = start, offset_at(name, start)
    while left < end:
        right = min(left + step, end)
        if offset_at(name, right) != before:
            change = _narrow(name, left, right)
            found.append(change)
            # Go on from there, so that two changes within one step are both seen.
            right, before = change.at, change.after
        left = right
    return tuple(found)


def _narrow(name: str, left: int, right: int) -> Change:
    before = offset_at(name, left)
    while right - left > 1:
        middle = (left + right) // 2
        if offset_at(name, middle) == before:
            left = middle
        else:
            right = middle
    return Change(right, before, offset_at(name, right))


# Cron


class Expression:
    """A cron text of five or six fields, as predicates on wall-clock values."""

    def __init__(self, text: str) -> None:
        words = text.upper().split()
        second, minute, hour, self.day, month, self.weekday = ["0", *words][-6:]
        self.is_fixed = not any(field[0] in "*?" for field in (second, minute, hour))
        self.seconds = [n for n in range(60) if holds(second, n, 0, 59)]
        self.minutes = [n for n in range(60) if holds(minute, n, 0, 59)]
        self.hours = {n for n in range(24) if holds(hour, n, 0, 23)}
        self.months = {n for n in range(1, 13) if holds(month, n, 1, 12, MONTHS)}
        self._dates: dict[date, bool] = {}

    def matches_date(self, day: date) -> bool:
        if day not in self._dates:
            self._dates[day] = day.month in self.months and self._matches_day(day)
        return self._dates[day]

    def _matches_day(self, day: date) -> bool:
        by_day = any(day_holds(item, day) for item in self.day.split(","))
        by_weekday = any(weekday_holds(item, day) for item in self.weekday.split(","))
        if self.day[0] in "*?" or self.weekday[0] in "*?":
            return by_day and by_weekday
        return by_day or by_weekday

    def walls(self, start: int, end: int) -> Iterator[int]:
        """Yield the matching wall seconds from `start` up to but without `end`, one by one."""
        for hour in range(start // HOUR, -(-end // HOUR)):
            if hour % 24 not in self.hours:
                continue
            if not self.matches_date(date(1970, 1, 1) + timedelta(days=hour // 24)):
                continue
            for minute in self.minutes:
                for second in self.seconds:
                    wall = hour * HOUR + minute * MINUTE + second
                    if start <= wall < end:
                        yield wall


def holds(field: str, value: int, low: int, high: int, names: list[str] | None = None) -> bool:
    """Tell whether a plain field (lists, ranges, steps) contains a value."""
    return any(_item_holds(item, value, low, high, names) for item in field.split(","))


def _item_holds(item: str, value: int, low: int, high: int, names: list[str] | None) -> bool:
    span, _, step = item.partition("/")
    first, dash, last = span.partition("-")
    if first in ("*", "?"):
        begin, end = low, high
    else:
        begin = _number(first, low, names)
        end = _number(last, low, names) if dash else (high if step else begin)
    if begin > end:
        return value >= begin or value <= end
    return begin <= value <= end and (value - begin) % int(step or 1) == 0


def _number(text: str, low: int, names: list[str] | None) -> int:
    return names.index(text) + low if names and text in names else int(text)


def day_holds(item: str, day: date) -> bool:
    """Tell whether an item of the day field means this date."""
    length = ((day.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)).day
    if item.endswith("W"):
        target = _from_end(item[:-1], length) if item[0] == "L" else int(item[:-1])
        workdays = [n for n in range(1, length + 1) if day.replace(day=n).isoweekday() < 6]
        exists = 1 <= target <= length
        return exists and day.day == min(workdays, key=lambda n: abs(n - target))
    if item[0] in "L-":
        return day.day == _from_end(item, length)
    return holds(item, day.day, 1, 31)


def _from_end(item: str, length: int) -> int:
    if item[0] == "L":
        return length - int(item.removeprefix("L").removeprefix("-") or 0)
    return length + 1 - int(item[1:])


def weekday_holds(item: str, day: date) -> bool:
    """Tell whether an item of the weekday field means this date."""
    weekday = day.isoweekday() % 7
    if item.endswith("L") and "#" not in item:
        item = item[:-1] + "#-1"
    name, hash_sign, which = item.replace("#L", "#-1").partition("#")
    if not hash_sign:
        last = 6 if item.partition("/")[0] in ("*", *WEEKDAYS, *"0123456") else 7
        return any(holds(item, n, 0, last, WEEKDAYS) for n in {weekday, weekday or 7})
    if _number(name, 0, WEEKDAYS) % 7 != weekday:
        return False
    if int(which) > 0:
        return (day.day - 1) // 7 + 1 == int(which)
    return (day + timedelta(days=7 * -int(which))).month != day.month and (
        (day + timedelta(days=7 * (-int(which) - 1))).month == day.month
    )


def cron_slots(
    text: str, name: str, start: int, end: int, *, gap: str = "shift", fold: str = "first"
) -> list[int]:
    """Return the slots after the UTC second `start` and not after `end`."""
    expression = Expression(text)
    # Two showings of one wall time are at most a day apart: look a little further than that.
    begin, stop = start - 26 * HOUR, end + 26 * HOUR
    found = changes(name, begin, stop)
    edges = [begin, *(change.at for change in found), stop + 1]
    offsets = [offset_at(name, begin), *(change.after for change in found)]
    showings: dict[int, list[int]] = {}
    for left, right, offset in zip(edges, edges[1:], offsets, strict=False):
        for wall in expression.walls(left + offset, right + offset):
            showings.setdefault(wall, []).append(wall - offset)
    which = {"first": slice(1), "last": slice(-1, None), "both": slice(None)}
    chosen = which[fold] if expression.is_fixed else slice(None)
    slots = {slot for shown in showings.values() for slot in shown[chosen]}
    if expression.is_fixed and gap == "shift":
        slots |= {change.at for change in found if _loses_a_match(expression, change)}
    return sorted(slot for slot in slots if start < slot <= end)


def _loses_a_match(expression: Expression, change: Change) -> bool:
    skipped = expression.walls(change.at + change.before, change.at + change.after)
    return change.jump <= LONGEST_MADE_UP and any(True for _ in skipped)


def next_date(text: str, after: date, years: int) -> date | None:
    """Return the first matching date after a date, looking at every day of some years."""
    expression = Expression(text)
    days = (after + timedelta(days=n) for n in range(1, 366 * years))
    return next((day for day in days if expression.matches_date(day)), None)


# Anchor grids


@dataclass(frozen=True)
class AnchorGrid:
    """anchor + N * interval; a naive anchor is wall time of the zone."""

    count: int
    unit: str
    anchor: datetime
    name: str
    gap: str = "shift"
    fold: str = "first"

    def slots(self, start: datetime, end: datetime) -> list[datetime]:
        """Return the slots after `start` and not after `end`, strictly ascending."""
        number, slots = self._near(start), set[datetime]()
        # Gaps and folds move a point by up to a day, so look further than asked on both sides.
        while not (placed := self.place(number)) or min(placed) <= end + self._margin():
            slots.update(placed)
            number += 1
        return sorted(slot for slot in slots if start < slot <= end)

    def _near(self, start: datetime) -> int:
        """Return an N whose point lies before `start` for sure, or 0."""
        days = {"days": 1, "weeks": 7, "months": 31, "years": 366}.get(self.unit, 0)
        longest = timedelta(days=days) if days else timedelta(**{self.unit: 1})
        origin = self._wall().replace(tzinfo=UTC) if days else self._origin()
        return max(0, (start - self._margin() - origin) // (longest * self.count))

    def _margin(self) -> timedelta:
        return timedelta(0) if self.unit in ELAPSED else timedelta(days=3)

    def place(self, number: int) -> list[datetime]:
        """Return the instants of point N: one, none in a gap that is skipped, two in a fold."""
        if self.unit in ELAPSED:
            return [self._origin() + timedelta(**{self.unit: number * self.count})]
        if number == 0 and self.anchor.utcoffset() is not None:
            return self._stated()
        return self._resolve(self._wall() + relativedelta(**{self.unit: number * self.count}))  # type: ignore[arg-type]

    def _wall(self) -> datetime:
        if self.anchor.utcoffset() is None:
            return self.anchor
        return self.anchor.astimezone(zone(self.name)).replace(tzinfo=None, fold=0)

    def _origin(self) -> datetime:
        if self.anchor.utcoffset() is not None:
            return self.anchor.astimezone(UTC)
        return self._in_zone(self._wall(), "later" if self.fold == "last" else "compatible")

    def _stated(self) -> list[datetime]:
        """An anchor with an offset stands where it says; "both" adds the other showing, later."""
        origin = self._origin()
        shown = self._resolve(self._wall()) if self.fold == "both" else []
        return [origin, *(other for other in shown if other > origin)]

    def _resolve(self, wall: datetime) -> list[datetime]:
        early, late = self._in_zone(wall, "earlier"), self._in_zone(wall, "later")
        if early == late:
            return [early]
        if early.astimezone(zone(self.name)).replace(tzinfo=None, fold=0) != wall:
            return [late] if self.gap == "shift" else []
        return {"first": [early], "last": [late], "both": [early, late]}[self.fold]

    def _in_zone(self, wall: datetime, how: Disambiguation) -> datetime:
        moment = whenever.PlainDateTime(wall).assume_tz(self.name, disambiguation=how)
        return moment.to_instant().to_stdlib()


def first_after(slots: list[int], second: int) -> int | None:
    """Return the first of ascending slots that is later than a second."""
    at = bisect_right(slots, second)
    return slots[at] if at < len(slots) else None
