"""Crowds: of what happens thousands of times a second the first few are told one by one."""

from threading import Lock

from sempre.clock import Clock

__all__ = ["Crowd"]

MOST = 20
SECOND = 1.0


class Crowd:
    """Lets so many through in a second, and counts the others."""

    def __init__(self, clock: Clock, *, most: int = MOST) -> None:
        """Begin with nobody."""
        self._clock = clock
        self._most = most
        self._lock = Lock()
        self._since = clock.elapsed()
        self._seen = 0

    def admit(self) -> bool:
        """Count one more; tell whether it is among the first of this second."""
        with self._lock:
            self._seen += 1
            return self._seen <= self._most

    def left_out(self) -> int:
        """Return how many were not among the first of a second that is over, and begin the next.

        Nobody is woken for it: the last ones are told of when something else happens.
        """
        now = self._clock.elapsed()
        if now - self._since < SECOND:
            return 0
        with self._lock:
            left = max(0, self._seen - self._most)
            self._since, self._seen = now, 0
            return left
