"""Ids of executions and schedules, made by the caller: UUIDs of version 7, in order of time."""

import os
from array import array
from datetime import UTC, datetime
from threading import Lock
from uuid import UUID

from sempre.grids.instants import microseconds_of

__all__ = ["made_at", "new_id", "new_ids", "randbits"]

VARIANT = 0b10 << 62
SECOND = 1000 << 12
TOGETHER = 512


class _Order:
    """Numbers that grow with the time, and from one call to the next within a millisecond.

    A number is a millisecond and twelve bits that count within it. A clock that was set back by
    more than a second begins a new order.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = 0

    def next(self, microseconds: int, count: int) -> range:
        """Return `count` consecutive numbers."""
        number = (microseconds << 12) // 1000
        with self._lock:
            if number <= self._last < number + SECOND:
                number = self._last + 1
            self._last = number + count - 1
        return range(number, number + count)


class _Chance:
    """Random bits of the system, read many at a time: each read releases the interpreter.

    A forked child drops those of its parent: its ids would be the parent's.
    """

    def __init__(self) -> None:
        self._numbers: list[int] = []
        os.register_at_fork(after_in_child=self._numbers.clear)

    def next(self) -> int:
        """Return 64 random bits."""
        try:
            return self._numbers.pop()
        except IndexError:
            first, *rest = array("Q", os.urandom(8 * TOGETHER))
            self._numbers.extend(rest)
            return first


_ORDER = _Order()
_CHANCE = _Chance()


def randbits(count: int) -> int:
    """Return `count` random bits, at most 64; a simulation replaces this function."""
    return _CHANCE.next() >> 64 - count


def new_id(now: datetime) -> str:
    """Return a unique id, which sorts after all earlier ids of this process."""
    return new_ids(now, 1)[0]


def new_ids(now: datetime, count: int) -> list[str]:
    """Return `count` unique ids, in order."""
    return list(map(_written, _ORDER.next(microseconds_of(now), count)))


def _written(number: int) -> str:
    time, chance = f"{number:015x}", f"{VARIANT | randbits(62):016x}"
    return f"{time[:8]}-{time[8:12]}-7{time[12:]}-{chance[:4]}-{chance[4:]}"


def made_at(identity: str) -> datetime:
    """Return when an id was made, to the millisecond; ValueError if it is no UUID."""
    return datetime.fromtimestamp((UUID(identity).int >> 80) / 1000, UTC)
