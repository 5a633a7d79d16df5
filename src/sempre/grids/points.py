"""Points: instants as people name them, by a date or by how far off they are."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sempre.grids.instants import read_instant
from sempre.grids.intervals import read_duration

__all__ = ["read_point"]


def read_point(
    field: str,
    value: datetime | timedelta | float | str,
    *,
    now: Callable[[], datetime],
    ago: bool = False,
) -> datetime:
    """Return an instant that is given as such, or as a length of time from now on, or ago.

    The present is asked for only where a length of time is counted from it.

    Raises:
        InstantError: a date that cannot be read, or has no zone.
        IntervalError: a length of time that cannot be read.
    """
    if isinstance(value, datetime) or (
        isinstance(value, str) and value[:4].isdigit() and "-" in value
    ):
        return read_instant(field, value)
    length = read_duration(field, value)
    return now() - length if ago else now() + length
