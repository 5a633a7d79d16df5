"""Clock changes of time zones, and the slots that fall into one.

A wall time that the clock skips is shifted or skipped; a wall time that the clock shows twice runs
once or twice. Grids answer by `Grid.at_clock_changes`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from sempre.grids.cron_fields import CronFields, length_of_month, lowest
from sempre.grids.explain import clock, joined, seconds_of_day
from sempre.grids.instants import EPOCH_DAY, instant_of, seconds_of
from sempre.grids.intervals import ELAPSED, SECONDS, Interval
from sempre.grids.zones import Fold, Gap, zone

__all__ = [
    "LONGEST_MADE_UP",
    "ClockChange",
    "ClockEffect",
    "Effect",
    "WallStretch",
    "clock_changes",
    "cron_effect",
    "cron_note",
    "cron_times",
    "every_effect",
    "every_note",
    "every_times",
]

HOUR, DAY, MILLION = 3600, 86_400, 1_000_000
HOURS_OF_A_DAY = 24
# Debian's cron runs a skipped time only if the clock jumped by less than this.
LONGEST_MADE_UP = 3 * HOUR
SHOWINGS: dict[Fold, str] = {
    "first": "the first time only",
    "last": "the second time only",
    "both": "both times",
}
Effect = Literal["shifted", "skipped", "once", "doubled", "moved"]
"""What a clock change does to slots.

shifted: the clock skips the wall time; the slot runs after the gap.
skipped: the clock skips the wall time; no slot.
once: the clock shows the wall time twice; one slot.
doubled: the clock shows the wall time twice; two slots.
moved: elapsed time keeps its distance; the wall time of the slots changes from here on.
"""


@dataclass(frozen=True)
class ClockChange:
    """A change of the clocks of a zone; `by` is positive if they go forward."""

    zone: str
    at: datetime
    by: timedelta

    @property
    def direction(self) -> str:
        """The direction of the clock: forward or back."""
        return "forward" if self.by > timedelta(0) else "back"

    @property
    def stretch(self) -> "WallStretch":
        """The wall seconds that the clock skips or shows twice."""
        at = seconds_of(self.at)
        before, after = (zone(self.zone).offset_at(second) for second in (at - 1, at))
        return WallStretch(at + min(before, after), at + max(before, after), after > before)

    def is_day_of(self, instant: datetime) -> bool:
        """Return whether an instant lies on the day of the change, in its zone."""
        return _day(self.zone, instant) == _day(self.zone, self.at)


class WallStretch(NamedTuple):
    """Wall seconds that a clock change skips (a gap) or shows twice."""

    begins: int
    ends: int
    is_gap: bool


@dataclass(frozen=True)
class ClockEffect:
    """What one clock change does to the slots of a grid, and a sentence about it."""

    change: ClockChange
    effect: Effect
    note: str


def clock_changes(zone_name: str, start: datetime, end: datetime) -> list[ClockChange]:
    """Return the clock changes of a zone between two instants."""
    line = zone(zone_name).timeline(reach=seconds_of(end) + 1)
    first, last = line.span_at(seconds_of(start)) + 1, line.span_at(seconds_of(end))
    return [
        ClockChange(
            zone_name,
            instant_of(line.starts[at] * MILLION),
            timedelta(seconds=line.offsets[at] - line.offsets[at - 1]),
        )
        for at in range(first, last + 1)
        if line.offsets[at] != line.offsets[at - 1]
    ]


def cron_effect(
    change: ClockChange, meaning: CronFields, *, gap: Gap, fold: Fold
) -> ClockEffect | None:
    """Return what a clock change does to the slots of a cron rule; None if it touches none."""
    stretch = change.stretch
    if meaning.follows_clock:
        # With * in the minutes it runs whenever the clock shows a match, whatever the policies.
        gap, fold = "skip", "both"
        if meaning.hours.bit_count() == HOURS_OF_A_DAY:
            return None
    if stretch.is_gap and stretch.ends - stretch.begins > LONGEST_MADE_UP:
        gap = "skip"
    times = cron_times(meaning, stretch)
    if not times:
        return None
    return ClockEffect(change, _effect(stretch, gap, fold), cron_note(stretch, times, gap, fold))


def every_effect(
    change: ClockChange, interval: Interval, anchor: datetime, *, gap: Gap, fold: Fold
) -> ClockEffect | None:
    """Return what a clock change does to the slots of an anchor grid; None if it touches none."""
    stretch = change.stretch
    if interval.unit in ELAPSED:
        step = interval.count * SECONDS[interval.unit]
        if (stretch.ends - stretch.begins) % step == 0:
            return None
        verb = "is" if interval.count == 1 else "are"
        note = f"{interval} {verb} elapsed time: the time on the clock moves."
        return ClockEffect(change, "moved", note)
    times = every_times(interval, anchor, stretch)
    if not times:
        return None
    return ClockEffect(change, _effect(stretch, gap, fold), every_note(stretch, times, gap, fold))


def cron_note(stretch: WallStretch, times: list[int], gap: Gap, fold: Fold) -> str:
    """Return a sentence about times of a cron rule that fall into a clock change."""
    if not stretch.is_gap:
        return _fold_note(times, fold)
    if gap == "skip":
        return _gap_note(times, "")
    at = clock(stretch.ends % DAY)
    several = f"one run at {at} then stands in for them"
    return _gap_note(times, several if len(times) > 1 else f"it runs at {at} then")


def every_note(stretch: WallStretch, times: list[int], gap: Gap, fold: Fold) -> str:
    """Return a sentence about the time of an anchor grid that falls into a clock change."""
    if not stretch.is_gap:
        return _fold_note(times, fold)
    if gap == "skip":
        return _gap_note(times, "")
    moved = (times[0] + stretch.ends - stretch.begins) % DAY
    return _gap_note(times, f"it runs at {clock(moved)} then")


def cron_times(meaning: CronFields, stretch: WallStretch) -> list[int]:
    """Return the seconds of the day, in order, at which a rule falls into a clock change."""
    seconds = seconds_of_day(meaning)
    times = []
    for day in _days(stretch):
        civil = date.fromordinal(day + EPOCH_DAY)
        if meaning.days_in(civil.year, civil.month) >> civil.day & 1:
            begins, ends = max(stretch.begins - day * DAY, 0), min(stretch.ends - day * DAY, DAY)
            within = seconds >> begins & (1 << ends - begins) - 1
            while within:
                times.append(begins + lowest(within))
                within &= within - 1
    return times


def every_times(interval: Interval, anchor: datetime, stretch: WallStretch) -> list[int]:
    """Return the second of the day, if any, at which a grid falls into a clock change."""
    second = anchor.hour * HOUR + anchor.minute * 60 + anchor.second
    return [
        second
        for day in _days(stretch)
        if stretch.begins <= day * DAY + second < stretch.ends
        and _falls_on(interval, anchor.date(), date.fromordinal(day + EPOCH_DAY))
    ]


def _days(stretch: WallStretch) -> Iterator[int]:
    return iter(range(stretch.begins // DAY, (stretch.ends - 1) // DAY + 1))


def _falls_on(interval: Interval, anchor: date, day: date) -> bool:
    count, unit = interval.count, interval.unit
    if unit in ("days", "weeks"):
        return (day - anchor).days % (count * SECONDS[unit] // DAY) == 0
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    is_hit = months % (count * 12 if unit == "years" else count) == 0
    # The last day of a shorter month stands in for the anchor's.
    return is_hit and day.day == min(anchor.day, length_of_month(day.year, day.month))


def _effect(stretch: WallStretch, gap: Gap, fold: Fold) -> Effect:
    if stretch.is_gap:
        return "shifted" if gap == "shift" else "skipped"
    return "doubled" if fold == "both" else "once"


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


def _day(zone_name: str, instant: datetime) -> int:
    second = seconds_of(instant)
    return (second + zone(zone_name).offset_at(second)) // DAY
