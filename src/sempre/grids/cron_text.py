"""Reads cron text: five fields, six with seconds in front, an alias, a zone before or behind.

This module has the grammar and its error messages; `cron_fields` has the meaning of the fields.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from sempre.errors import CronError, NeverFires, ZoneError, nearest
from sempre.grids.cron_fields import CronFields, bits
from sempre.grids.zones import zone, zone_names

__all__ = ["ALIASES", "CronText", "read_cron"]

LONGEST = 256
ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@noon": "0 12 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
SHAPE = "five fields (minute hour day month weekday), six with seconds in front, or @daily"

_ZONE_LIKE = re.compile(r"[A-Za-z]{5}|[A-Za-z]{4,}[/_]")
# Python takes these characters for spaces; other cron programs do not.
_SEPARATORS = re.compile(r"[\x1c-\x1f]")
_RANGE = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/([0-9]+))?", re.ASCII)
_FROM_END = re.compile(r"L(?:-([0-9]+))?(W)?|-([0-9]+)", re.ASCII)
# From a day to the last one, or between two days that count from the end: 29-L, -3-L, -9--2.
_TO_END = re.compile(
    r"(?:([0-9]+)|(L(?:-[0-9]+)?|-[0-9]+))-(L|-[0-9]+)(?:/([0-9]+))?",
    re.ASCII,
)
_NEAREST = re.compile(r"([0-9]+)W", re.ASCII)
_NTH = re.compile(r"(\w+?)(?:#(?:(-?[0-9])|L|LAST)|L)", re.ASCII)


class CronText(NamedTuple):
    """A parsed cron text: the fields as written, their meaning, and the zone if any."""

    fields: str
    meaning: CronFields
    timezone: str | None


class _Field(NamedTuple):
    """The rules of one field."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    # The largest step. Beyond an hour of minutes people mean elapsed time, which this is not.
    widest_step: int = 999


_FIELDS = (
    _Field("second", 0, 59, widest_step=59),
    _Field("minute", 0, 59, widest_step=59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, MONTHS),
    _Field("weekday", 0, 7, WEEKDAYS),
)


def read_cron(text: str) -> CronText:
    """Return the meaning of a cron text; CronError, NeverFires or ZoneError if it has none."""
    words, timezone = _take_zone(_words(text))
    if words and words[0].startswith("@"):
        words = _alias(words, text)
    if len(words) not in (5, 6):
        raise CronError("cron", text, allowed=SHAPE, hint=_shape_hint(words))
    try:
        meaning = _meaning(words if len(words) == 6 else ["0", *words])
    except CronError as error:
        raise error.within(text) from None
    if not meaning.ever_matches():
        hint = "No year has such a day. For the last day of the month write L."
        raise NeverFires("cron", text, allowed="a day that exists", hint=hint)
    return CronText(" ".join(words), meaning, timezone)


def _words(text: object) -> list[str]:
    if not isinstance(text, str) or not text.strip():
        raise CronError("cron", text, allowed=SHAPE)
    if len(text) > LONGEST:
        raise CronError("cron", text, allowed=f"at most {LONGEST} characters")
    if not text.isascii() or _SEPARATORS.search(text):
        allowed = "plain digits, names and * , - / # ? L W"
        raise CronError("cron", text, allowed=allowed)
    words = text.split()
    if words[0].lower() == "every":
        hint = 'Plain English is not read; Every("5m") spaces runs by an interval.'
        raise CronError("cron", text, allowed=SHAPE, hint=hint)
    return words


def _take_zone(words: list[str]) -> tuple[list[str], str | None]:
    """Split off a zone written in front (CRON_TZ=...) or behind."""
    prefix, equals, name = words[0].partition("=")
    if equals and prefix in ("CRON_TZ", "TZ"):
        return words[1:], zone(name).name
    if words[-1] in zone_names():
        return words[:-1], words[-1]
    if _ZONE_LIKE.match(words[-1]) and (len(words) > 5 or words[0].startswith("@")):
        hint = nearest(words[-1], zone_names())
        allowed = "a name of the IANA database at the end of a cron text"
        raise ZoneError("timezone", words[-1], allowed=allowed, hint=hint, whole=" ".join(words))
    return words, None


def _alias(words: list[str], text: str) -> list[str]:
    expansion = ALIASES.get(words[0].lower())
    if expansion and len(words) == 1:
        return expansion.split()
    hint = nearest(words[0], ALIASES)
    if words[0] == "@every":
        hint = 'For a fixed interval write Every("5m") in place of a cron text.'
    raise CronError("cron", text, allowed=", ".join(ALIASES), hint=hint)


def _shape_hint(words: list[str]) -> str:
    if len(words) == 7:
        return "Years are not supported; the last word may be a time zone."
    return f"There are {len(words)} fields."


def _meaning(words: list[str]) -> CronFields:
    second, minute, hour, day, month, weekday = words
    stars = [word.startswith(("*", "?")) for word in words]
    days = _DayField()
    weekdays = _WeekdayField()
    return CronFields(
        seconds=_mask(_FIELDS[0], second),
        minutes=_mask(_FIELDS[1], minute),
        hours=_mask(_FIELDS[2], hour),
        days=_mask(_FIELDS[3], day, days.take) | days.to_end,
        months=_mask(_FIELDS[4], month),
        weekdays=_mask(_FIELDS[5], weekday, weekdays.take),
        days_from_end=days.from_end,
        nearest=tuple(sorted(days.nearest)),
        nth_weekdays=tuple(sorted(weekdays.nth)),
        any_day=stars[3],
        any_weekday=stars[5],
        follows_clock=any(stars[:3]),
    )


def _mask(field: _Field, text: str, take: Callable[[str], bool] | None = None) -> int:
    """Return the mask of a field; `take` first gets each item, and keeps the special ones."""
    if text == "?":
        text = "*"
    mask = 0
    for item in text.upper().split(","):
        if take is None or not take(item):
            mask |= _range_mask(field, item)
    return mask


def _range_mask(field: _Field, item: str) -> int:
    found = _RANGE.fullmatch(item)
    if found is None:
        raise _item_error(field, item)
    star, low_text, high_text, step_text = found.groups()
    step = _step(field, item, step_text)
    is_weekday = field.names is WEEKDAYS
    if star:
        return bits(range(field.low, 7 if is_weekday else field.high + 1, step))
    low = _number(field, low_text)
    if high_text is None:
        high = low if step_text is None else field.high
    else:
        high = _number(field, high_text)
    if is_weekday:
        high = 6 if high_text is None and step_text else high
        return _weekday_mask(low, high, step_text, item)
    if low <= high:
        return bits(range(low, high + 1, step))
    _refuse_wrapping_step(field, item, step_text)
    return bits([*range(low, field.high + 1), *range(field.low, high + 1)])


def _weekday_mask(low: int, high: int, step_text: str | None, item: str) -> int:
    """Return a mask of 0-6. Sunday is 0 at the start of a range and 0 or 7 at its end."""
    low, step = low % 7, int(step_text or 1)
    if high == 7 and item.startswith("7"):
        high = 0
    if low <= high:
        return bits([day % 7 for day in range(low, high + 1, step)])
    _refuse_wrapping_step(_FIELDS[5], item, step_text)
    return bits([*range(low, 7), *range(high + 1)])


def _refuse_wrapping_step(field: _Field, item: str, step_text: str | None) -> None:
    if step_text:
        hint = "Programs disagree on it: list the values instead."
        allowed = "a step on a range that does not wrap around"
        raise CronError(field.name, item, allowed=allowed, hint=hint)


def _step(field: _Field, item: str, text: str | None) -> int:
    step = int(text) if text else 1
    if 1 <= step <= field.widest_step:
        return step
    hint = (
        "" if step < 1 else f'For every {step} {field.name}s write Every("{step} {field.name}s").'
    )
    raise CronError(field.name, item, allowed=f"a step of 1-{field.widest_step}", hint=hint)


def _number(field: _Field, text: str) -> int:
    if text in field.names:
        return field.names.index(text) + (1 if field.names is MONTHS else 0)
    if text.isdigit() and field.low <= int(text) <= field.high:
        return int(text)
    raise _item_error(field, text)


def _item_error(field: _Field, item: str) -> CronError:
    names = f" or {field.names[0]}-{field.names[-1]}" if field.names else ""
    allowed = f"{field.low}-{field.high}{names}, with * , - /"
    return CronError(field.name, item, allowed=allowed, hint=_item_hint(field, item))


def _item_hint(field: _Field, item: str) -> str:
    if item == "":
        return "A comma has nothing beside it."
    if item == "24" and field.name == "hour":
        return "Midnight is hour 0."
    if item.isdigit() and field.name == "day":
        return "Days are 1-31; L is the last one."
    if item.startswith("H") or "~" in item:
        return "To spread load take jitter= of the schedule."
    if item.startswith("L") and field.names is WEEKDAYS:
        return "The last Friday of the month is 5L."
    return nearest(item, field.names) if field.names else ""


class _DayField:
    """What the day field has beyond ranges of numbers: L, L-3, -1, 15W, LW, 29-L, -3-L."""

    def __init__(self) -> None:
        self.to_end = 0
        self.from_end = 0
        self.nearest: set[int] = set()

    def take(self, item: str) -> bool:
        """Keep a special item; False if it is an ordinary one."""
        item = item.replace("LAST", "L")
        if found := _NEAREST.fullmatch(item):
            self.nearest.add(_number(_FIELDS[3], found[1]))
        elif found := _FROM_END.fullmatch(item):
            number = _from_end(item.removesuffix("W"))
            if found[2]:
                self.nearest.add(-number)
            else:
                self.from_end |= 1 << number
        elif found := _TO_END.fullmatch(item):
            self._take_range(item, *found.groups())
        else:
            return False
        return True

    def _take_range(
        self, item: str, number: str | None, from_end: str, end_text: str, step_text: str | None
    ) -> None:
        step, end = _step(_FIELDS[3], item, step_text), _from_end(end_text)
        if number:
            if end != 1:
                allowed = "N-L, or -N-L to count from the end"
                hint = "The length of such a range would differ from month to month."
                raise CronError("day", item, allowed=allowed, hint=hint)
            # Up to 31, whatever the month: days beyond its end match nothing.
            self.to_end |= bits(range(_number(_FIELDS[3], number), _FIELDS[3].high + 1, step))
            return
        begin = _from_end(from_end)
        if begin < end:
            raise CronError("day", item, allowed="a range from the end that does not wrap around")
        self.from_end |= bits(range(begin, end - 1, -step))


def _from_end(text: str) -> int:
    """Return 1 for L or -1, the last day of the month, 3 for L-2 or -3, and so on."""
    digits = text.strip("L-")
    number = int(digits or 0) + text.startswith("L")
    if not 1 <= number <= _FIELDS[3].high:
        raise CronError("day", text, allowed="L, L-1 to L-30, or -1 to -31")
    return number


class _WeekdayField:
    """What the weekday field has beyond ranges: 5L, FRI#2, 5#L, FRI#LAST, FRI#-1."""

    def __init__(self) -> None:
        self.nth: set[tuple[int, int]] = set()

    def take(self, item: str) -> bool:
        """Keep a special item; False if it is an ordinary one."""
        found = _NTH.fullmatch(item)
        if found is None or item in WEEKDAYS:
            return False
        weekday = _number(_FIELDS[5], found[1]) % 7
        n = int(found[2]) if found[2] else -1
        if not 1 <= abs(n) <= 5:
            raise CronError("weekday", item, allowed="#1 to #5, or #-1 to #-5 from the end")
        self.nth.add((weekday, n))
        return True
