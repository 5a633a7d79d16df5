"""A breaker: after a failure the broker is left alone for a while, longer each time."""

from threading import Lock

from sempre.clock import Clock

__all__ = ["Breaker"]


class Breaker:
    """Decides whether to try a call: open after a failure, closed again by a success."""

    def __init__(self, clock: Clock, *, first: float = 1.0, longest: float = 30.0) -> None:
        """Begin closed; the rest after a failure doubles from `first` to `longest` seconds."""
        self._clock = clock
        self._first = first
        self._longest = longest
        self._failures = 0
        self._until = 0.0
        self._failed_at = 0.0
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        """Whether the last try failed, during its rest and after."""
        return self._failures > 0

    @property
    def rest(self) -> float:
        """Seconds until the next try; 0 if there may be one now."""
        return max(0.0, self._until - self._clock.elapsed()) if self._failures else 0.0

    def hurry(self) -> None:
        """Allow a try now; for calls that are rare and must not miss their moment."""
        with self._lock:
            self._until = 0.0

    def admits(self) -> bool:
        """Return whether to try now: always while closed, once after each rest while open.

        Other threads rest again for as long, however long the try waits for its answer.
        """
        with self._lock:
            if self.rest:
                return False
            if self._failures:
                self._until = self._clock.elapsed() + self._pause()
            return True

    def failed(self) -> float:
        """Open the breaker, or keep it open for longer; return for how many seconds."""
        with self._lock:
            self._failures += 1
            rest, self._failed_at = self._pause(), self._clock.elapsed()
            self._until = self._failed_at + rest
            return rest

    def succeeded(self, *, since: float | None = None) -> bool:
        """Close the breaker; True if it was open.

        Args:
            since: when the try began; a try from before the last failure does not count.
        """
        with self._lock:
            if since is not None and self._failures and since < self._failed_at:
                return False
            was_open, self._failures = self._failures > 0, 0
            return was_open

    def _pause(self) -> float:
        return min(self._longest, self._first * float(1 << min(self._failures - 1, 10)))
