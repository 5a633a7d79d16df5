"""Reads the tzdata package's compiled zones (TZif, RFC 9636) into plain offsets and a rule.

The standard library's zoneinfo reads the same files but does not expose the instants of change,
which define gaps and folds. Tests compare this reader with zoneinfo, zone by zone.
"""

import re
import struct
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

__all__ = ["Compiled", "YearlyRule", "read_tzif"]

EPOCH_DAY = date(1970, 1, 1).toordinal()
DAY = 86_400

_HEADER = struct.Struct(">4sc15x6l")
_TYPE = struct.Struct(">lBB")
_FOOTER = re.compile(
    r"(?:[A-Za-z]{3,}|<[^>]+>)(?P<standard>[-+]?[\d:]+)"
    r"(?:(?:[A-Za-z]{3,}|<[^>]+>)(?P<summer>[-+]?[\d:]+)?"
    r",M(?P<begins>\d+\.\d+\.\d+)(?:/(?P<begins_at>[-+]?[\d:]+))?"
    r",M(?P<ends>\d+\.\d+\.\d+)(?:/(?P<ends_at>[-+]?[\d:]+))?)?"
)


class YearlyRule(NamedTuple):
    """Two changes a year, for ever: (month, week, weekday, second of the day) and the offsets."""

    standard: int
    summer: int
    begins: tuple[int, int, int, int]
    ends: tuple[int, int, int, int]

    def changes(self, year: int) -> Iterator[tuple[int, int]]:
        """Yield this year's (UTC second, offset from then on), earlier first."""
        begins = _rule_second(year, self.begins) - self.standard, self.summer
        ends = _rule_second(year, self.ends) - self.summer, self.standard
        yield from sorted((begins, ends))


class Compiled(NamedTuple):
    """A zone as in its file: the first offset, every change, and the rule for later years."""

    first: int
    changes: tuple[tuple[int, int], ...]
    rule: YearlyRule | None


def read_tzif(content: bytes) -> Compiled:
    """Read one compiled zone; ValueError if it is not TZif of version 2 or later."""
    magic, version, *counts = _HEADER.unpack_from(content)
    if magic != b"TZif" or version < b"2":
        message = "not a TZif file of version 2 or later"
        raise ValueError(message)
    utc, standard, leaps, times, types, letters = counts
    # Version 1 repeats everything in 32 bits; the block that counts comes after it.
    start = _HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    return _read_block(content, start)


def _read_block(content: bytes, start: int) -> Compiled:
    _, _, utc, standard, leaps, times, types, letters = _HEADER.unpack_from(content, start)
    at = start + _HEADER.size
    instants = struct.unpack_from(f">{times}q", content, at)
    kinds = content[at + times * 8 : at + times * 9]
    at += times * 9
    offsets = [_TYPE.unpack_from(content, at + index * _TYPE.size)[0] for index in range(types)]
    at += types * _TYPE.size + letters + leaps * 12 + standard + utc
    changes = zip(instants, (offsets[kind] for kind in kinds), strict=True)
    return Compiled(offsets[0], tuple(changes), _read_rule(content[at:].decode("ascii").strip()))


def _read_rule(footer: str) -> YearlyRule | None:
    found = _FOOTER.fullmatch(footer)
    if found is None:
        message = f"a rule of tzdata that is not understood: {footer!r}"
        raise ValueError(message)
    if found["begins"] is None:
        return None
    # POSIX counts westward; everyone else counts eastward.
    standard = -_clock(found["standard"])
    summer = -_clock(found["summer"]) if found["summer"] else standard + 3600
    begins = _rule_day(found["begins"], found["begins_at"])
    return YearlyRule(standard, summer, begins, _rule_day(found["ends"], found["ends_at"]))


def _clock(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))


def _rule_day(day: str, clock: str | None) -> tuple[int, int, int, int]:
    month, week, weekday = (int(part) for part in day.split("."))
    return month, week, weekday, _clock(clock or "2")


def _rule_second(year: int, rule: tuple[int, int, int, int]) -> int:
    month, week, weekday, second = rule
    first = date(year, month, 1)
    day = 1 + (weekday - first.isoweekday()) % 7 + (week - 1) * 7
    following = date(year + month // 12, month % 12 + 1, 1)
    while first.toordinal() + day > following.toordinal():
        day -= 7
    return (first.toordinal() + day - 1 - EPOCH_DAY) * DAY + second
