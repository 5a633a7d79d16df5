"""Wake times: when a worker next scans the store, and when executions that it knows are due."""

from collections.abc import Iterable
from datetime import datetime
from heapq import heappop, heappush
from threading import Lock

from sempre.clock import Clock

__all__ = ["NEARLY", "NEVER", "WakeTimes"]

NEVER = float("inf")
# Two scans that are nearer than this are one.
NEARLY = 0.01
MOST = 10_000
MOST_STARTS = 100_000


class WakeTimes:
    """The wake times of one worker, by its steady clock; used from many threads.

    Beyond `MOST` the far ones are dropped: each heartbeat reports the nearest due row again.
    """

    def __init__(self, clock: Clock) -> None:
        """Begin with a scan at once."""
        self._clock = clock
        self._scans = [0.0]
        self._instants: dict[float, datetime] = {}
        self._starts: list[tuple[float, str]] = []
        self._known: set[str] = set()
        self._lock = Lock()

    @property
    def next_scan(self) -> float:
        """When to scan next."""
        with self._lock:
            return self._scans[0] if self._scans else NEVER

    @property
    def next_start(self) -> float:
        """When the next known execution is due."""
        with self._lock:
            while self._starts and self._starts[0][1] not in self._known:
                heappop(self._starts)
            return self._starts[0][0] if self._starts else NEVER

    @property
    def next(self) -> float:
        """When to wake next, for the one or the other."""
        return min(self.next_scan, self.next_start)

    def add_scan(self, wait: float, due_at: datetime | None = None) -> bool:
        """Scan in so many seconds at the latest; True if that is sooner than any wake time.

        Args:
            wait: in seconds.
            due_at: what should be due then, since the store's clock may come there later.
        """
        point = self._clock.elapsed() + max(0.0, wait)
        with self._lock:
            first = self._scans[0] if self._scans else NEVER
            if abs(point - first) <= NEARLY:
                self._keep_latest(first, due_at)
                return False
            if len(self._scans) >= MOST:
                return False
            self._keep_latest(point, due_at)
            heappush(self._scans, point)
            return point < first

    def scan_now(self) -> None:
        """Scan at the next step."""
        with self._lock:
            if not self._scans or self._scans[0] > 0.0:
                heappush(self._scans, 0.0)

    def add_start(self, wait: float, execution_id: str) -> None:
        """Wake in so many seconds, when an execution is due that is known by its id."""
        with self._lock:
            if execution_id not in self._known and len(self._starts) < MOST_STARTS:
                self._known.add(execution_id)
                point = self._clock.elapsed() + max(0.0, wait)
                heappush(self._starts, (point, execution_id))

    def pop_scans(self) -> list[datetime]:
        """Remove the scans that are due by now, as one scan serves them all.

        Returns:
            What should be due by now: by the store's clock it may not be so yet.
        """
        now, expected = self._clock.elapsed(), []
        with self._lock:
            while self._scans and self._scans[0] <= now:
                due_at = self._instants.pop(heappop(self._scans), None)
                if due_at is not None:
                    expected.append(due_at)
        return expected

    def pop_starts(self) -> list[str]:
        """Remove and return the executions that are due by now, the earliest first."""
        now, due = self._clock.elapsed(), []
        with self._lock:
            while self._starts and self._starts[0][0] <= now:
                _, identity = heappop(self._starts)
                if identity in self._known:
                    self._known.remove(identity)
                    due.append(identity)
        return due

    def forget_starts(self, ids: Iterable[str]) -> None:
        """Forget executions that have started: a scan may find them a moment before their wake."""
        with self._lock:
            self._known.difference_update(ids)

    def _keep_latest(self, point: float, due_at: datetime | None) -> None:
        known = self._instants.get(point)
        if due_at is not None and (known is None or due_at > known):
            self._instants[point] = due_at
