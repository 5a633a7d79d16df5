"""`Cron`: the instants at which the wall clock of a zone shows a matching time.

The search goes by spans of constant offset: inside a span the wall clock is a plain count of
seconds; between two spans lies a gap or a fold.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sempre.grids.clock_changes import LONGEST_MADE_UP, ClockEffect, clock_changes, cron_effect
from sempre.grids.cron_count import SlotCounter
from sempre.grids.cron_progressions import cron_progressions
from sempre.grids.cron_text import read_cron
from sempre.grids.cron_walls import DAY, WallRule
from sempre.grids.explain import explain_cron
from sempre.grids.grid import Grid, Passed, Progression, SetOnce
from sempre.grids.instants import EPOCH, LATEST, seconds_of, since_epoch
from sempre.grids.warnings import cron_notes
from sempre.grids.zones import (
    UNSTATED,
    Fold,
    Timeline,
    Unstated,
    check_fold,
    check_gap,
    shown_policies,
    zone,
)

__all__ = ["Cron"]

END = LATEST * DAY


class Cron(SetOnce, Grid, name="cron"):
    """Fires whenever the wall clock of a zone shows a matching time.

    Five fields (minute hour day month weekday), six with seconds in front, or an alias such as
    @daily; a zone at the end of the text wins over `timezone`, which is by default that of the
    application. When both day and weekday are
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
        *("_line", "_made_up", "_rule", "_zone"),
        *("fold", "gap", "is_zoned", "text", "timezone"),
    )

    def __init__(
        self, text: str, *, timezone: str = UNSTATED, gap: str = "shift", fold: str = "first"
    ) -> None:
        """Read the text; equal texts are parsed once."""
        self.text, self._rule, named_zone = _compile(text) if isinstance(text, str) else _read(text)
        given_zone = zone(timezone)
        self._zone = zone(named_zone) if named_zone else given_zone
        self.timezone = self._zone.name
        self.is_zoned = named_zone is not None or not isinstance(timezone, Unstated)
        self.gap = check_gap(gap)
        self.fold = check_fold(fold)
        self._line = self._zone.timeline(self._showings)
        shifts = self.gap == "shift" and not self._rule.meaning.follows_clock
        self._made_up = LONGEST_MADE_UP if shifts else -1

    def after(self, t: datetime) -> datetime | None:
        """Return the first slot strictly later than `t`; None past the year 9999."""
        since = since_epoch(t)
        if since is None:
            return None
        found = self._after(since.days * DAY + since.seconds)
        return None if found >= END else EPOCH + timedelta(0, found)

    def _passed(self, after: datetime, until: datetime) -> Passed | None:
        first = self.after(after)
        if first is None or first > until:
            return None
        begin, end = seconds_of(after), seconds_of(until)
        counter = SlotCounter(self._rule, self._line_for(end), made_up=self._made_up)
        last = EPOCH + timedelta(0, counter.last(begin, end))
        return Passed(first, last, counter.count(begin, end))

    def _progressions(self, after: datetime, until: datetime) -> Iterator[Progression]:
        begin, end = seconds_of(after), seconds_of(until)
        line = self._line_for(end)
        for first, step, count in cron_progressions(
            self._rule, line, begin, end, made_up=self._made_up
        ):
            yield Progression(EPOCH + timedelta(0, first), timedelta(0, step), count)

    def explain(self) -> str:
        """Say in plain English when this grid fires."""
        return explain_cron(self._rule.meaning, self._zone)

    def notes(self) -> tuple[str, ...]:
        """Return what may surprise a person about this grid."""
        return cron_notes(self.text, self._rule.meaning, self._zone, gap=self.gap, fold=self.fold)

    def at_clock_changes(self, start: datetime, end: datetime) -> list[ClockEffect]:
        """Return what the clock changes between two instants do to slots."""
        meaning, changes = self._rule.meaning, clock_changes(self.timezone, start, end)
        effects = (cron_effect(each, meaning, gap=self.gap, fold=self.fold) for each in changes)
        return [each for each in effects if each is not None]

    def parameters(self) -> dict[str, Any]:
        """Return the arguments as JSON values."""
        chosen = {"timezone": self.timezone, "gap": self.gap, "fold": self.fold}
        return {"text": self.text, **chosen}

    def in_zone(self, timezone: str) -> Grid:
        """Return the grid in a zone, unless the grid states its own zone."""
        if self.is_zoned or timezone == self.timezone:
            return self
        return Cron(self.text, timezone=timezone, gap=self.gap, fold=self.fold)

    def identity(self) -> tuple[object, ...]:
        """Return the value that equal grids share: the meaning of the text, not its spelling."""
        return (type(self), self._rule.meaning, self.timezone, self.gap, self.fold)

    def __repr__(self) -> str:
        """Write the grid as code."""
        return f"Cron({self.text!r}, timezone={self.timezone!r}{shown_policies(self)})"

    @property
    def _showings(self) -> Fold:
        return "both" if self._rule.meaning.follows_clock else self.fold

    def _line_for(self, second: int) -> Timeline:
        line = self._line
        return line if second < line.reach else self._zone.timeline(self._showings, reach=second)

    def _after(self, second: int) -> int:
        """Return the first UTC second of a slot after a UTC second; END or more if none."""
        line = self._line if second < self._line.reach else self._line_for(second)
        rule = self._rule
        at = bisect_right(line.starts, second) - 1
        # In a fold the first seconds of the span may belong to the one before.
        asked = max(second + line.offsets[at], line.opens[at] - 1)
        wall = rule.after(asked)
        while wall >= line.closes[at]:
            at += 1
            opens, closed = line.opens[at], line.closes[at - 1]
            if wall < opens and opens - closed <= self._made_up:
                return line.starts[at]
            # In a gap, or the clock went back behind what was asked about.
            if wall < opens or asked >= opens:
                asked = opens - 1
                wall = rule.after(asked)
        return wall - line.offsets[at] if wall < line.listed else END


def _read(text: str) -> tuple[str, WallRule, str | None]:
    fields, meaning, named_zone = read_cron(text)
    return fields, WallRule(meaning), named_zone


# A hundred thousand schedules, one for each tenant, share few cron texts.
_compile = lru_cache(maxsize=4096)(_read)
