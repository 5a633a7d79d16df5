"""Ids of executions and schedules, made by the caller: UUIDs of version 7, in order of time."""

from datetime import datetime
from secrets import randbits
from uuid import UUID

from sempre.grids.instants import microseconds_of

__all__ = ["new_id"]

VERSION_7 = 0x7 << 76
VARIANT = 0b10 << 62


def new_id(now: datetime) -> str:
    """Return an id that sorts after those made a millisecond earlier, and that nobody else has."""
    milliseconds = microseconds_of(now) // 1000
    high = (milliseconds << 80) | VERSION_7 | (randbits(12) << 64)
    return str(UUID(int=high | VARIANT | randbits(62)))
