"""Log sampling: of thousands of events in a second, the first few get a line each."""

from threading import Lock

from sempre.clock import Clock

__all__ = ["Sample"]

MOST = 20
SECOND = 1.0


class Sample:
    """Admits the first events of each second, and counts the others."""

    def __init__(self, clock: Clock, *, most: int = MOST) -> None:
        """Begin a second without events."""
        self._clock = clock
        self._most = most
        self._lock = Lock()
        self._since = clock.elapsed()
        self._seen = 0

    def admit(self) -> bool:
        """Count one more event; return whether it is among the first of this second."""
        with self._lock:
            self._seen += 1
            return self._seen <= self._most

    def left_out(self) -> int:
        """Return how many events of a second that is over were not admitted, and begin the next.

        No timer asks for the number: the last ones are reported with the next event.
        """
        now = self._clock.elapsed()
        if now - self._since < SECOND:
            return 0
        with self._lock:
            left = max(0, self._seen - self._most)
            self._since, self._seen = now, 0
            return left
