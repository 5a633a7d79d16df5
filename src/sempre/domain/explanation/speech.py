"""Speech: how sentences show instants, lengths of time, ids and people."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from sempre.domain.explanation.causes import Fact
from sempre.grids.wall_clock import format_instant

__all__ = ["Facts", "Sentence", "Speech", "by_whom", "spoken_length"]

MINUTE, HOUR, DAY = 60, 3600, 86_400
Facts: TypeAlias = Mapping[str, Fact]


@dataclass(frozen=True)
class Speech:
    """How sentences show instants and ids.

    Attributes:
        zone: the time zone of all instants.
        now: the present; the year is written where it is another one.
        short: returns an id as it is shown.
    """

    zone: str
    now: datetime
    short: Callable[[str], str] = str

    def at(self, instant: Fact) -> str:
        """Return an instant as text."""
        if not isinstance(instant, datetime):
            return "an unknown time"
        return format_instant(instant, self.zone, now=self.now)

    def id(self, identity: Fact) -> str:
        """Return an id as text."""
        return self.short(str(identity))


Sentence: TypeAlias = Callable[[Facts, Speech], str]
"""Writes the sentence of a cause from its facts."""


def spoken_length(length: Fact) -> str:
    """Write a length of time in at most two units: `41 s`, `7 min`, `2 h 5 min`, `3 days`."""
    if not isinstance(length, timedelta):
        return "some time"
    seconds = round(length.total_seconds())
    if seconds < 1:
        return f"{max(length.total_seconds(), 0):.1f} s"
    if seconds < 2 * MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < 2 * DAY:
        hours, rest = divmod(seconds, HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{seconds // DAY} days"


def by_whom(facts: Facts, *, otherwise: str = "") -> str:
    """Return ` by ann: "migration"`, as far as known."""
    actor, note = facts.get("actor") or "", facts.get("note") or ""
    by = f" by {actor}" if actor else otherwise
    return f'{by}: "{note}"' if note else by
