"""Intervals and durations as people write them: 15m, "1h30m", 2 weeks, timedelta, seconds.

An interval spaces a grid and may be of months; a duration bounds a wait and is a timedelta.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sempre.errors import IntervalError, nearest
from sempre.errors.wording import written_length

__all__ = ["Interval", "Unit", "read_duration", "read_interval"]

Unit = Literal["seconds", "minutes", "hours", "days", "weeks", "months", "years"]

SECONDS: dict[Unit, int] = {
    "seconds": 1,
    "minutes": 60,
    "hours": 3600,
    "days": 86_400,
    "weeks": 604_800,
}
ELAPSED: tuple[Unit, ...] = ("hours", "minutes", "seconds")
SPELLINGS: dict[Unit, tuple[str, ...]] = {
    "seconds": ("s", "sec", "secs", "second"),
    "minutes": ("m", "min", "mins", "minute"),
    "hours": ("h", "hr", "hrs", "hour"),
    "days": ("d", "day"),
    "weeks": ("w", "wk", "week"),
    "months": ("mo", "mon", "month"),
    "years": ("y", "yr", "year"),
}
UNITS: dict[str, Unit] = {
    spelling: unit for unit, others in SPELLINGS.items() for spelling in (unit, *others)
}
# A century of years, and the same span in every other unit: further apart is a mistake.
LONGEST_SECONDS = 100 * 366 * 86_400
LONGEST_MONTHS = 1200
LARGEST = 10**15
LONGEST_TEXT = 100

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", re.ASCII)
_WRITTEN = 'a text such as "15m", "1h30m" or "2 weeks", a timedelta, or a number of seconds'


@dataclass(frozen=True, slots=True)
class Interval:
    """A whole, positive number of units, as the user thinks of it."""

    count: int
    unit: Unit

    def __str__(self) -> str:
        """Write the interval as a text that `read_interval` reads back."""
        return f"{self.count} {self.unit[:-1] if self.count == 1 else self.unit}"


def read_interval(value: object, unit: object = None) -> Interval:
    """Return the interval that a user wrote; IntervalError names what is wrong.

    A timedelta is elapsed time, even of 24 hours; only the word day means a calendar day.
    """
    if isinstance(value, str) and unit is None:
        return _checked(_sum_of_parts(value), value)
    if unit is not None and not isinstance(value, timedelta):
        return _checked(Interval(_whole(value), _unit(unit)), value)
    if unit is not None:
        hint = "A timedelta has its own units: leave the unit out."
        raise IntervalError("interval", value, allowed="a number of units", hint=hint)
    return _checked(_of_seconds(_whole(value)), value)


def read_duration(field: str, value: object, *, least: timedelta = timedelta(0)) -> timedelta:
    """Return a duration as a timedelta; IntervalError if it is unreadable or below `least`."""
    duration = _duration(field, value)
    if duration < least:
        allowed = f"{written_length(least) if least else 'zero'} or more"
        raise IntervalError(field, value, allowed=allowed)
    return duration


def _duration(field: str, value: object) -> timedelta:
    if isinstance(value, timedelta):
        _timedelta(field, value, value.total_seconds())
        return value
    if isinstance(value, str):
        return _timedelta(field, value, sum(_duration_parts(field, value)))
    return _timedelta(field, value, _number(value, field))


def _timedelta(field: str, value: object, seconds: float) -> timedelta:
    if abs(seconds) > LONGEST_SECONDS:
        raise IntervalError(field, value, allowed="at most 100 years")
    return timedelta(seconds=seconds)


def _duration_parts(field: str, text: str) -> list[float]:
    parts = []
    for number, name in _parts(text, field):
        unit = _unit(name) if name else "seconds"
        if unit not in SECONDS:
            hint = "Months and years have no fixed length; write days."
            raise IntervalError(field, text, allowed=_WRITTEN, hint=hint)
        parts.append(float(number) * SECONDS[unit])
    return parts


def _sum_of_parts(text: str) -> Interval:
    parts = [Interval(_whole(number), _unit(name)) for number, name in _parts(text, "interval")]
    if len(parts) == 1:
        return parts[0]
    if any(part.unit not in ELAPSED for part in parts):
        hint = "Days and longer follow the calendar and stand alone: write 2 days or 48 hours."
        raise IntervalError("interval", text, allowed=_WRITTEN, hint=hint)
    return _of_seconds(sum(part.count * SECONDS[part.unit] for part in parts))


def _parts(text: str, field: str) -> list[tuple[str, str]]:
    stripped = text.strip().removeprefix("every ")
    parts, at = [], 0
    if len(text) > LONGEST_TEXT:
        raise IntervalError(field, text, allowed=f"at most {LONGEST_TEXT} characters")
    while at < len(stripped) and (found := _PART.match(stripped, at)):
        parts.append((found[1], found[2]))
        at = found.end()
    if not parts or at < len(stripped):
        hint = "A cron text belongs in Cron(...)." if stripped.count(" ") >= 4 else ""
        raise IntervalError(field, text, allowed=_WRITTEN, hint=hint)
    if field == "interval" and not all(name for _, name in parts):
        hint = f'Write a number of seconds without quotes, or a unit: "{stripped}s".'
        raise IntervalError(field, text, allowed=_WRITTEN, hint=hint)
    return parts


def _of_seconds(seconds: int) -> Interval:
    unit = next(unit for unit in ELAPSED if seconds % SECONDS[unit] == 0)
    return Interval(seconds // SECONDS[unit], unit)


def _whole(value: object) -> int:
    number = _number(value)
    if number == int(number):
        return int(number)
    hint = "Take a smaller unit, such as 90m for an hour and a half."
    raise IntervalError("interval", value, allowed="whole numbers, of whole seconds", hint=hint)


def _number(value: object, field: str = "interval") -> float:
    if isinstance(value, timedelta):
        return value / timedelta(seconds=1)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    # Compared, not converted: an integer of 400 digits has no float.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and -LARGEST < value < LARGEST:  # type: ignore[operator]
        return value  # type: ignore[return-value]
    raise IntervalError(field, value, allowed=_WRITTEN)


def _unit(name: object) -> Unit:
    if isinstance(name, str) and (unit := UNITS.get(name.lower())):
        return unit
    hint = nearest(name, SPELLINGS) if isinstance(name, str) else ""
    raise IntervalError("unit", name, allowed=", ".join(SPELLINGS), hint=hint)


def _checked(interval: Interval, value: object) -> Interval:
    if interval.count < 1:
        raise IntervalError("interval", value, allowed="one second or more")
    if interval.unit in SECONDS:
        too_long = interval.count * SECONDS[interval.unit] > LONGEST_SECONDS
    else:
        too_long = interval.count * (12 if interval.unit == "years" else 1) > LONGEST_MONTHS
    if too_long:
        raise IntervalError("interval", value, allowed="at most 100 years")
    return interval
