"""Ids of executions and schedules, made by the caller: UUIDs of version 7, in order of time."""

from datetime import UTC, datetime
from secrets import randbits
from uuid import UUID

from sempre.grids.instants import microseconds_of

__all__ = ["made_at", "new_id"]

VERSION_7 = 0x7 << 76
VARIANT = 0b10 << 62
LOW = (1 << 62) - 1


def new_id(now: datetime) -> str:
    """Return an id that sorts after those made a millisecond earlier, and that nobody else has."""
    # Twelve random bits after the version and 62 after the variant, of one draw.
    chance = randbits(74)
    high = (microseconds_of(now) // 1000 << 80) | VERSION_7 | (chance >> 62 << 64)
    digits = f"{high | VARIANT | chance & LOW:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def made_at(identity: str) -> datetime:
    """Return when an id was made, to the millisecond; ValueError for one that is not ours."""
    return datetime.fromtimestamp((UUID(identity).int >> 80) / 1000, UTC)
