"""Audits: when the watchdog last checked each schedule, without a write for each of them.

A pass checks schedules in the order of their ids, from where the pass before ended. So a pass
checks one stretch of ids, and its report keeps one mark for each stretch: the last id in it, and
when. The report, and with it the mark, is kept only if the pass came to its end.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime

from sempre.domain.arguments import Json
from sempre.domain.schedule import Schedule

__all__ = ["LAST", "Audits", "marked"]

LAST = "~"
"""Comes after the id of every schedule."""
MOST_MARKS = 300

Mark = tuple[str, datetime | None]


class Audits:
    """The marks of the last finished pass and of those before it."""

    def __init__(self, report: Mapping[str, Json]) -> None:
        """Read the marks of a report; a report of an older version has none."""
        self._marks = _read(report.get("audits"))

    def last(self, schedule: Schedule) -> datetime | None:
        """Return when a schedule was last checked; None if it never was."""
        place = bisect_left(self._marks, schedule.id, key=lambda mark: mark[0])
        at = self._marks[place][1] if place < len(self._marks) else None
        # A new schedule has a later id, so its stretch may have been checked before it existed.
        return at if at is not None and at >= schedule.created_at else None


def marked(known: object, *, after: str, upto: str, at: datetime) -> list[Json]:
    """Return the marks, in their stored form, with a stretch of ids that was checked now.

    Beyond `MOST_MARKS` every two become one, with the earlier of their instants.
    """
    marks = _read(known)
    before = [mark for mark in marks if mark[0] <= after]
    rest = marks[len(before) :]
    if after and (not before or before[-1][0] < after):
        before.append((after, rest[0][1] if rest else None))
    found = [*before, (upto, at), *(mark for mark in rest if mark[0] > upto)]
    return [[last, when.isoformat() if when else None] for last, when in _thinned(found)]


def _thinned(marks: list[Mark]) -> list[Mark]:
    if len(marks) <= MOST_MARKS:
        return marks
    pairs = [marks[place : place + 2] for place in range(0, len(marks), 2)]
    return [(pair[-1][0], _earliest(pair)) for pair in pairs]


def _earliest(marks: Sequence[Mark]) -> datetime | None:
    instants = [at for _, at in marks if at is not None]
    return min(instants) if len(instants) == len(marks) else None


def _read(known: object) -> list[Mark]:
    marks: list[Mark] = []
    for each in known if isinstance(known, list) else ():
        match each:
            case [str(last), str(when)]:
                marks.append((last, datetime.fromisoformat(when)))
            case [str(last), None]:
                marks.append((last, None))
    return marks
