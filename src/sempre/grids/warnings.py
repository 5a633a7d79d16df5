"""Warnings: what a grid does that a person may not expect, as sentences for `Grid.notes`.

No clock is read: the clock changes that count are those of the years 2030 to 2050, for which a zone
has only lasting rules.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

from sempre.grids.cron_fields import LENGTHS, CronFields, bits, length_of_month, lowest
from sempre.grids.explain import clock, joined, months_hit, seconds_of_day
from sempre.grids.instants import EPOCH_DAY
from sempre.grids.intervals import ELAPSED, SECONDS, Interval
from sempre.grids.zones import Fold, Gap, Zone

__all__ = ["cron_notes", "every_notes"]

HOUR, DAY = 3600, 86_400
# 2030 to 2050: past every change that was decided for one year, within every timeline.
SETTLED = range(1_893_456_000, 2_524_608_000)
ALL_DAYS, ALL_WEEKDAYS = bits(range(1, 32)), bits(range(7))
SHOWINGS: dict[Fold, str] = {
    "first": "the first time only",
    "last": "the second time only",
    "both": "both times",
}
# How many values each field has, and when it begins anew; months differ in length.
FIELDS = (
    ("second", 0, 60, "every minute"),
    ("minute", 0, 60, "every hour"),
    ("hour", 0, 24, "every day"),
    ("day", 1, 31, "every month"),
    ("month", 1, 12, "every year"),
    ("weekday", 0, 7, "every Sunday"),
)

_STEP = re.compile(r"(?:\*|([0-9]+))/([0-9]+)", re.ASCII)


class _Change(NamedTuple):
    """Wall seconds that a clock change skips (a gap) or shows twice."""

    begins: int
    ends: int
    is_gap: bool


def cron_notes(
    text: str, meaning: CronFields, zone: Zone, *, gap: Gap, fold: Fold
) -> tuple[str, ...]:
    """Return the warnings about a cron rule, given as text and as meaning."""
    found = [*_day_and_weekday(text, meaning), *_missing_days(meaning), *_uneven_steps(text)]
    if not meaning.follows_clock:
        found += _cron_changes(meaning, zone, gap=gap, fold=fold)
    elif meaning.hours.bit_count() < 24:
        # With * in the minutes it runs whenever the clock shows a match, whatever the policies.
        found += _cron_changes(meaning, zone, gap="skip", fold="both")
    return tuple(found)


def every_notes(
    interval: Interval, anchor: datetime, zone: Zone, *, gap: Gap, fold: Fold
) -> tuple[str, ...]:
    """Return the warnings about an anchor grid; the anchor is wall time of the zone."""
    if interval.unit in ELAPSED:
        return tuple(_drift(interval, zone))
    clamps = _clamped_months(interval, anchor)
    return (*clamps, *_every_changes(interval, anchor, zone, gap=gap, fold=fold))


def _day_and_weekday(text: str, meaning: CronFields) -> Iterator[str]:
    every_day, every_weekday = meaning.days == ALL_DAYS, meaning.weekdays == ALL_WEEKDAYS
    starred = "day" if meaning.any_day else "weekday" if meaning.any_weekday else ""
    if starred:
        if not every_day and not every_weekday:
            rule = "a day must match both it and the"
            other = "weekday" if starred == "day" else "day"
            yield f"The {starred} field begins with *, so {rule} {other} field."
    elif every_day or every_weekday:
        day, _, weekday = text.split()[-3:]
        full, other = (day, "weekday") if every_day else (weekday, "day")
        remedy = f"write * in its place to let the {other} field decide"
        yield f"{full} beside a {other} means every day, since either field suffices; {remedy}."
    else:
        yield "Day and weekday are both set: a day that matches either of them runs."


def _missing_days(meaning: CronFields) -> Iterator[str]:
    """Warn of days that some chosen month does not have, unless the text reads as all of them."""
    chosen = [month for month in range(1, 13) if meaning.months >> month & 1]
    days = meaning.days | bits(day for day in meaning.nearest if day > 0)
    if meaning.any_day or days >> 28 & 1:
        return
    if days >> 29 & 1 and chosen == [2]:
        yield "29 February comes in leap years only."
        return
    missing = [
        str(day)
        for day in (29, 30, 31)
        if days >> day & 1 and any(day > LENGTHS[month] for month in chosen)
    ]
    if missing:
        which = joined(missing, last="or")
        yield f"A month without day {which} has no run for it; L is the last day of every month."


def _uneven_steps(text: str) -> Iterator[str]:
    words = text.split()
    for (name, low, size, anew), word in zip(FIELDS[-len(words) :], words, strict=True):
        found = _STEP.fullmatch(word)
        if found is None or found[2] == "1":
            continue
        first, step = int(found[1] or low) % size, int(found[2])
        values = range(first, low + size, step)
        if len(values) == 1:
            yield f"{word} in the {name} field matches {first} only: the step leaves the field."
        elif len(values) * step != size:
            keeps = f'; Every("{step} {name}s") keeps its distance' if name != "weekday" else ""
            where = f"{values[0]} follows {values[-1]}"
            yield f"{word} in the {name} field begins anew {anew}: {where}{keeps}."


def _cron_changes(meaning: CronFields, zone: Zone, *, gap: Gap, fold: Fold) -> Iterator[str]:
    for change, times in _first_of_each_kind(
        (change, _cron_times(meaning, change)) for change in _changes(zone)
    ):
        if not change.is_gap:
            yield _fold_note(times, fold)
        elif gap == "skip":
            yield _gap_note(times, "")
        else:
            at = clock(change.ends % DAY)
            several = f"one run at {at} then stands in for them"
            yield _gap_note(times, several if len(times) > 1 else f"it runs at {at} then")


def _every_changes(
    interval: Interval, anchor: datetime, zone: Zone, *, gap: Gap, fold: Fold
) -> Iterator[str]:
    for change, times in _first_of_each_kind(
        (change, _every_times(interval, anchor, change)) for change in _changes(zone)
    ):
        if not change.is_gap:
            yield _fold_note(times, fold)
        elif gap == "skip":
            yield _gap_note(times, "")
        else:
            moved = (times[0] + change.ends - change.begins) % DAY
            yield _gap_note(times, f"it runs at {clock(moved)} then")


def _first_of_each_kind(
    hits: Iterator[tuple[_Change, list[int]]],
) -> list[tuple[_Change, list[int]]]:
    """Return the first gap and the first fold that any time falls into."""
    found: dict[bool, tuple[_Change, list[int]]] = {}
    for change, times in hits:
        if times:
            found.setdefault(change.is_gap, (change, times))
    return [found[kind] for kind in (True, False) if kind in found]


def _changes(zone: Zone) -> Iterator[_Change]:
    line = zone.timeline()
    columns = zip(line.starts[1:], line.offsets, line.offsets[1:], strict=False)
    for start, before, after in columns:
        if start in SETTLED:
            begins, ends = start + min(before, after), start + max(before, after)
            yield _Change(begins, ends, after > before)


def _cron_times(meaning: CronFields, change: _Change) -> list[int]:
    """Return the seconds of the day, in order, at which a rule falls into a clock change."""
    seconds = seconds_of_day(meaning)
    times = []
    for day in range(change.begins // DAY, (change.ends - 1) // DAY + 1):
        civil = date.fromordinal(day + EPOCH_DAY)
        if meaning.days_in(civil.year, civil.month) >> civil.day & 1:
            begins, ends = max(change.begins - day * DAY, 0), min(change.ends - day * DAY, DAY)
            within = seconds >> begins & (1 << ends - begins) - 1
            while within:
                times.append(begins + lowest(within))
                within &= within - 1
    return times


def _every_times(interval: Interval, anchor: datetime, change: _Change) -> list[int]:
    """Return the second of the day, if any, at which a grid falls into a clock change."""
    second = anchor.hour * HOUR + anchor.minute * 60 + anchor.second
    return [
        second
        for day in range(change.begins // DAY, (change.ends - 1) // DAY + 1)
        if change.begins <= day * DAY + second < change.ends
        and _falls_on(interval, anchor.date(), date.fromordinal(day + EPOCH_DAY))
    ]


def _falls_on(interval: Interval, anchor: date, day: date) -> bool:
    count, unit = interval.count, interval.unit
    if unit in ("days", "weeks"):
        return (day - anchor).days % (count * SECONDS[unit] // DAY) == 0
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    is_hit = months % (count * 12 if unit == "years" else count) == 0
    # The last day of a shorter month stands in for the anchor's.
    return is_hit and day.day == min(anchor.day, length_of_month(day.year, day.month))


def _gap_note(times: list[int], remedy: str) -> str:
    plural = len(times) > 1
    remedy = remedy or f"{'they do' if plural else 'it does'} not run then"
    exist = "do not exist" if plural else "does not exist"
    return f"{_named(times)} {exist} on the day the clock goes forward; {remedy}."


def _fold_note(times: list[int], fold: Fold) -> str:
    plural = len(times) > 1
    come, run = ("come", "they run") if plural else ("comes", "it runs")
    return f"{_named(times)} {come} twice on the day the clock goes back; {run} {SHOWINGS[fold]}."


def _named(times: list[int]) -> str:
    if len(times) <= 3:
        return joined([clock(second) for second in times])
    return f"The times from {clock(times[0])} to {clock(times[-1])}"


def _clamped_months(interval: Interval, anchor: datetime) -> Iterator[str]:
    if interval.unit not in ("months", "years"):
        return
    months = interval.count * 12 if interval.unit == "years" else interval.count
    hit = months_hit(months, anchor.month)
    if hit == [2] and anchor.day == 29:
        yield "In a year without 29 February it runs on 28 February."
    elif any(anchor.day > LENGTHS[month] for month in hit):
        yield f"A month without day {anchor.day} runs on its last day."


def _drift(interval: Interval, zone: Zone) -> Iterator[str]:
    step = interval.count * SECONDS[interval.unit]
    shifts = {change.ends - change.begins for change in _changes(zone)}
    if not any(shift % step for shift in shifts):
        return
    moves = "the time on the clock moves when the clock changes"
    days = step // DAY
    if step == DAY:
        yield f'{interval} are not a day: {moves}; Every("1 day") keeps it.'
    elif step % DAY == 0:
        yield f'{interval} are not {days} days: {moves}; Every("{days} days") keeps it.'
    elif DAY % step == 0:
        yield f"{interval} {'is' if interval.count == 1 else 'are'} elapsed time: {moves}."
