"""The fast path: a final failure enqueues a scan at once, so that no alert waits for a minute.

A failure in the second before its scan is found by that scan: a thousand failures at once make one
scan, and not a thousand. If the process dies before the enqueue, the next slot of the scan finds
the failure.
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


class FastPath:
    """Enqueues a scan after a final failure, at most one in a second."""

    def __init__(self, app: "Sempre", scan: Job[..., Any]) -> None:
        """Enqueue a job of an application."""
        self._app = app
        self._scan = scan.options(delay=SOON, unique=Unique(mode="live"))
        self._lock = Lock()
        self._enqueued_until = 0.0

    def hear(self, event: Event) -> None:
        """Enqueue a scan, unless a retry follows or a scan is about to start."""
        if event.facts.get("retry_at") is not None or is_own(event.facts["execution"].snapshot.job):
            return
        with self._lock:
            now = self._app.clock.elapsed()
            # A clock of virtual time may begin anew.
            if now < self._enqueued_until <= now + SOON.total_seconds():
                return
            self._enqueued_until = now + SOON.total_seconds()
        try:
            self._scan.enqueue()
        except BaseException:
            self._enqueued_until = 0.0
            raise
