"""The fast path: a final failure enqueues a scan at once, so that no alert waits for a minute.

A failure in the second before its scan is found by that scan: a thousand failures at once make one
scan, and not a thousand. Work that fails all the time makes one scan a minute. If the process dies
before the enqueue, the next slot of the scan finds the failure.
"""

from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from sempre.app.alerts.names import is_own
from sempre.app.jobs import Job
from sempre.domain.unique import Unique
from sempre.engine.events import Event

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["FastPath"]

SOON = timedelta(seconds=1)
SAME = 60.0
"""Seconds after which a failure of the same schedule or job makes a scan again."""
MOST_KNOWN = 10_000


class FastPath:
    """Enqueues a scan after a final failure, at most one in a second."""

    def __init__(self, app: "Sempre", scan: Job[..., Any]) -> None:
        """Enqueue a job of an application."""
        self._app = app
        self._scan = scan.options(delay=SOON, unique=Unique(mode="live"))
        self._lock = Lock()
        self._enqueued_until = 0.0
        self._heard: dict[str, float] = {}

    def hear(self, event: Event) -> None:
        """Enqueue a scan, unless a retry follows or a scan is about to start."""
        snapshot = event.facts["execution"].snapshot
        if event.facts.get("retry_at") is not None or is_own(snapshot.job):
            return
        with self._lock:
            if not self._is_new(snapshot.name, self._app.clock.elapsed()):
                return
        try:
            self._scan.enqueue()
        except BaseException:
            with self._lock:
                self._enqueued_until = 0.0
                self._heard.clear()
            raise

    def _is_new(self, name: str, now: float) -> bool:
        """Whether no scan that is about to start, or ran within the minute, covers a failure."""
        # A clock of virtual time may begin anew.
        is_known = 0.0 <= now - self._heard.get(name, -SAME) < SAME
        is_covered = now < self._enqueued_until <= now + SOON.total_seconds()
        if is_known:
            return False
        if len(self._heard) >= MOST_KNOWN:
            self._heard.clear()
        self._heard[name] = now
        if is_covered:
            return False
        self._enqueued_until = now + SOON.total_seconds()
        return True
