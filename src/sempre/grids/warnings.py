"""Warnings: what a grid does that a person may not expect, as sentences for `Grid.notes`.

No clock is read: the clock changes that count are those of the years 2030 to 2050, for which a zone
has only lasting rules.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from sempre.grids.clock_changes import (
    WallStretch,
    cron_note,
    cron_times,
    every_note,
    every_times,
)
from sempre.grids.cron_fields import LENGTHS, CronFields, bits
from sempre.grids.explain import joined, months_hit
from sempre.grids.intervals import ELAPSED, SECONDS, Interval
from sempre.grids.zones import Fold, Gap, Zone

__all__ = ["cron_notes", "every_notes"]

DAY = 86_400
# 2030 to 2050: past every change that was decided for one year, within every timeline.
SETTLED = range(1_893_456_000, 2_524_608_000)
ALL_DAYS, ALL_WEEKDAYS = bits(range(1, 32)), bits(range(7))
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
    hits = ((change, cron_times(meaning, change)) for change in _changes(zone))
    for change, times in _first_of_each_kind(hits):
        yield cron_note(change, times, gap, fold)


def _every_changes(
    interval: Interval, anchor: datetime, zone: Zone, *, gap: Gap, fold: Fold
) -> Iterator[str]:
    hits = ((change, every_times(interval, anchor, change)) for change in _changes(zone))
    for change, times in _first_of_each_kind(hits):
        yield every_note(change, times, gap, fold)


def _first_of_each_kind(
    hits: Iterator[tuple[WallStretch, list[int]]],
) -> list[tuple[WallStretch, list[int]]]:
    """Return the first gap and the first fold that any time falls into."""
    found: dict[bool, tuple[WallStretch, list[int]]] = {}
    for change, times in hits:
        if times:
            found.setdefault(change.is_gap, (change, times))
    return [found[kind] for kind in (True, False) if kind in found]


def _changes(zone: Zone) -> Iterator[WallStretch]:
    line = zone.timeline()
    columns = zip(line.starts[1:], line.offsets, line.offsets[1:], strict=False)
    for start, before, after in columns:
        if start in SETTLED:
            begins, ends = start + min(before, after), start + max(before, after)
            yield WallStretch(begins, ends, after > before)


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
