"""The agenda: when to look into the store next, for all that this process knows."""

from datetime import datetime
from heapq import heappop, heappush
from threading import Lock

from sempre.clock import Clock

__all__ = ["NEARLY", "NEVER", "Agenda"]

NEVER = float("inf")
# Two instants that are nearer than this are one look.
NEARLY = 0.01
LONGEST = 10_000


class Agenda:
    """Points of the steady clock at which something is due; used from many threads.

    It may forget what is far off when there is very much: each beat tells the nearest again.
    """

    def __init__(self, clock: Clock) -> None:
        """Begin with a look at once."""
        self._clock = clock
        self._points = [0.0]
        self._instants: dict[float, datetime] = {}
        self._lock = Lock()

    @property
    def next(self) -> float:
        """The next point at which to look."""
        with self._lock:
            return self._points[0] if self._points else NEVER

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        return self.next <= self._clock.elapsed()

    def add(self, wait: float, due_at: datetime | None = None) -> bool:
        """Look in so many seconds at the latest; True if that is sooner than was known."""
        point = self._clock.elapsed() + max(0.0, wait)
        with self._lock:
            first = self._points[0] if self._points else NEVER
            if abs(point - first) <= NEARLY:
                self._keep_latest(first, due_at)
                return False
            if len(self._points) >= LONGEST:
                return False
            self._keep_latest(point, due_at)
            heappush(self._points, point)
            return point < first

    def look_now(self) -> None:
        """Look at the next step."""
        with self._lock:
            if not self._points or self._points[0] > 0.0:
                heappush(self._points, 0.0)

    def cross_off(self) -> list[datetime]:
        """Forget what is due by now: whoever calls is about to look.

        Returns:
            What it was that should be due, since by the store's clock it may not be so yet.
        """
        now, expected = self._clock.elapsed(), []
        with self._lock:
            while self._points and self._points[0] <= now:
                due_at = self._instants.pop(heappop(self._points), None)
                if due_at is not None:
                    expected.append(due_at)
        return expected

    def _keep_latest(self, point: float, due_at: datetime | None) -> None:
        known = self._instants.get(point)
        if due_at is not None and (known is None or due_at > known):
            self._instants[point] = due_at
