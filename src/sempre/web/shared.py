"""Readings that visits share for a moment: many open pages cost the store as much as one."""

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from sempre.clock import Clock

__all__ = ["Shared"]

T = TypeVar("T")
MOMENT = 1.0
MOST = 64
"""Readings that are kept."""


class Shared:
    """Keeps readings for seconds; one thread reads, others wait for that reading alone.

    Only what every visitor may see alike is shared: nothing that depends on a role.
    """

    def __init__(self, clock: Clock) -> None:
        """Begin without a reading."""
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, _Kept] = {}

    def value(self, name: str, read: Callable[[], T], *, seconds: float = MOMENT) -> T:
        """Return a reading that is at most so many seconds old."""
        with self._lock:
            kept = self._kept.pop(name, None) or _Kept()
            self._kept[name] = kept
            # Names contain filters that visitors type: the reading used longest ago is dropped.
            while len(self._kept) > MOST:
                del self._kept[next(iter(self._kept))]
        with kept.lock:
            now = self._clock.elapsed()
            if kept.read_at is None or now - kept.read_at > seconds:
                kept.value, kept.read_at = read(), now
            found: T = kept.value
            return found

    def forget(self) -> None:
        """Drop every reading: a visitor who has changed something sees the change."""
        with self._lock:
            self._kept.clear()


class _Kept:
    """A reading, and the lock of the thread that reads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.read_at: float | None = None
        self.value: Any = None
