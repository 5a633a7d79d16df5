"""Wall clocks: an instant as the clocks of a zone show it, and the instants of a wall time."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from sempre.grids.instants import EPOCH, seconds_of
from sempre.grids.zones import FIRST_REACH, zone

__all__ = ["ClockGap", "Showings", "format_instant", "gap_before", "showings_of", "wall_of"]

HALF_HOUR = timedelta(minutes=30)


class ClockGap(NamedTuple):
    """Wall times that the clocks of a zone skip: from the first to the one shown after the jump.

    Attributes:
        at: the instant of the jump.
        first: the first wall time that is skipped.
        resumes: the wall time that the clocks show at that instant.
    """

    at: datetime
    first: datetime
    resumes: datetime


class Showings(NamedTuple):
    """The instants at which the clocks of a zone show a wall time.

    Attributes:
        instants: one; two where the clocks show the time twice. In a gap, the instant that lies as
            long after the jump as the wall time lies in the gap.
        gap: the gap that the wall time lies in, if any.
    """

    instants: tuple[datetime, ...]
    gap: ClockGap | None = None


def wall_of(instant: datetime, zone_name: str) -> datetime:
    """Return what the clocks of a zone show at an instant, as a datetime without a zone."""
    return _on_clocks_of(zone_name, instant).replace(tzinfo=None)


def showings_of(wall: datetime, zone_name: str) -> Showings:
    """Return when the clocks of a zone show a wall time."""
    naive = wall.replace(tzinfo=UTC)
    second = seconds_of(naive)
    reach = max(FIRST_REACH, second)
    lines = [zone(zone_name).timeline(fold, reach=reach) for fold in ("first", "last")]
    instants = {naive - timedelta(seconds=line.offset_of(second)) for line in lines}
    if lines[0].shows(second):
        return Showings(tuple(sorted(instants)))
    after = lines[0].starts[bisect_right(lines[0].opens, second)]
    return Showings(tuple(sorted(instants)), gap_before(_instant(after), zone_name))


def gap_before(instant: datetime, zone_name: str) -> ClockGap | None:
    """Return the gap that ends at an instant; None if the clocks do not jump ahead there."""
    second = seconds_of(instant)
    if instant.microsecond:
        return None
    before, after = (zone(zone_name).offset_at(each) for each in (second - 1, second))
    if after <= before:
        return None
    resumes = wall_of(instant, zone_name)
    return ClockGap(instant, resumes - timedelta(seconds=after - before), resumes)


def format_instant(
    instant: datetime, zone_name: str, *, now: datetime, labelled: bool = True
) -> str:
    """Write an instant on the clocks of a zone, labelled: `Sun 29 Mar 03:00 +02:00`.

    The year is written where it is not the present one, seconds where there are any. Without a
    label, the offset is written only where the clocks show the time twice.
    """
    wall = _on_clocks_of(zone_name, instant)
    year = "" if wall.year == _on_clocks_of(zone_name, now).year else f" {wall.year}"
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    text = f"{wall:%a} {wall.day} {wall:%b}{year} {clock}"
    if not labelled and not _is_repeated(zone_name, instant):
        return text
    return f"{text} {'UTC' if zone_name == 'UTC' else _offset(wall)}"


def _on_clocks_of(zone_name: str, instant: datetime) -> datetime:
    # Our own zones, by which slots are computed: the system's may be of another version.
    offset = timedelta(seconds=zone(zone_name).offset_at(seconds_of(instant)))
    return instant.astimezone(timezone(offset))


def _is_repeated(zone_name: str, instant: datetime) -> bool:
    """Return whether the clocks of a zone show the time of an instant twice."""
    wall = wall_of(instant, zone_name)
    near = (instant + by for by in (HALF_HOUR, -HALF_HOUR, 2 * HALF_HOUR, -2 * HALF_HOUR))
    return any(wall_of(each, zone_name) == wall for each in near)


def _instant(second: int) -> datetime:
    return EPOCH + timedelta(seconds=second)


def _offset(wall: datetime) -> str:
    text = f"{wall:%z}"
    return f"{text[:3]}:{text[3:5]}"
