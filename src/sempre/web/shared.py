"""Readings that visits share for a moment: many open pages cost the store as much as one."""

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from sempre.clock import Clock

__all__ = ["Shared"]

T = TypeVar("T")
MOMENT = 1.0


class Shared:
    """Keeps readings for seconds; one thread reads, the others wait for its reading.

    Only what every visitor may see alike is shared: nothing that depends on a role.
    """

    def __init__(self, clock: Clock) -> None:
        """Begin without a reading."""
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, tuple[float, Any]] = {}

    def value(self, name: str, read: Callable[[], T], *, seconds: float = MOMENT) -> T:
        """Return a reading that is at most so many seconds old."""
        with self._lock:
            now = self._clock.elapsed()
            known = self._kept.get(name)
            if known is None or now - known[0] > seconds:
                known = self._kept[name] = now, read()
            found: T = known[1]
            return found

    def forget(self) -> None:
        """Drop every reading: a visitor who has changed something sees the change."""
        with self._lock:
            self._kept.clear()
