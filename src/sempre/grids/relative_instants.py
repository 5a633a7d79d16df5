"""Relative instants: an instant given by a date, or by a length of time from now."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sempre.errors import InstantError
from sempre.grids.instants import as_instant, read_moment, seconds_of
from sempre.grids.intervals import read_duration
from sempre.grids.zones import FIRST_REACH, zone

__all__ = ["read_in_zone", "read_point"]

REMEDY = 'Or state the zone of the application: Sempre(timezone="Europe/Rome").'


def read_in_zone(field: str, value: object, timezone: str | None) -> datetime:
    """Return an instant in UTC; a value without a zone is wall time in `timezone`.

    Without `timezone`, a text without a zone is UTC, and a datetime without a zone is refused: it
    may come from the clock of a host in another zone.

    Raises:
        InstantError: the value cannot be read, or is a datetime without a zone while `timezone` is
            None.
        ZoneError: `timezone` is unknown.
    """
    moment = read_moment(field, value)
    if moment.tzinfo is not None and moment.utcoffset() is not None:
        return as_instant(field, moment)
    if timezone is None and not isinstance(value, str):
        raise InstantError(field, value, allowed="a datetime with a zone", hint=REMEDY)
    wall = moment.replace(tzinfo=UTC)
    second = seconds_of(wall)
    line = zone(timezone or "UTC").timeline(reach=max(FIRST_REACH, second))
    return as_instant(field, wall - timedelta(seconds=line.offset_of(second)))


def read_point(
    field: str,
    value: datetime | timedelta | float | str,
    *,
    now: Callable[[], datetime],
    ago: bool = False,
    timezone: str | None = None,
) -> datetime:
    """Return an instant given as a date, or as a length of time from now, or ago.

    `now` is called only for a length of time.

    Raises:
        InstantError: a date that cannot be read; see `read_in_zone` for one without a zone.
        IntervalError: a length of time that cannot be read.
    """
    if isinstance(value, datetime) or (
        isinstance(value, str) and value[:4].isdigit() and "-" in value
    ):
        return read_in_zone(field, value, timezone)
    length = read_duration(field, value)
    return now() - length if ago else now() + length
