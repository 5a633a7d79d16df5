"""Throttle: a call that is made at most once in a while, by one thread of a process."""

from collections.abc import Callable
from threading import Lock

from sempre.clock import Clock

__all__ = ["Throttle"]


class Throttle:
    """Lets a call through if the last one began long enough ago, whether or not it raised."""

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        """Let the first call through."""
        self._clock = clock
        self._seconds = seconds
        self._began_at: float | None = None
        self._busy = Lock()

    def run(self, call: Callable[[], object]) -> None:
        """Make the call, unless it is too soon or another thread makes it; never wait."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            now = self._clock.elapsed()
            if self._began_at is None or now - self._began_at >= self._seconds:
                self._began_at = now
                call()
        finally:
            self._busy.release()
