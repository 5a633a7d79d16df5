"""Outages: reports that the store fails this process, at intervals, and that the store is back.

A store that is down, full, read-only or refuses a right is met by every loop of a worker again and
again. Listeners and logs hear of the first failure, and then once in `EVERY` seconds.
"""

from threading import Lock

from sempre.clock import Clock
from sempre.engine.events import Events, Happened

__all__ = ["Outage"]

EVERY = 60.0


class Outage:
    """Whether the store fails this process; safe to be used by many threads."""

    def __init__(self, clock: Clock, events: Events) -> None:
        """Begin with a store that is well."""
        self._clock = clock
        self._events = events
        self._began_at: float | None = None
        self._reported_at = 0.0
        self._has_failed = False
        self._lock = Lock()

    def failed(self, error: object) -> None:
        """Note that the store failed; report the first failure, and then one in a minute."""
        with self._lock:
            now, self._has_failed = self._clock.elapsed(), True
            is_new = self._began_at is None
            if is_new:
                self._began_at = now
            elif now - self._reported_at < EVERY:
                return
            self._reported_at = now
        self._events.tell(Happened.STORE_DOWN, error=str(error))

    def answered(self) -> None:
        """Note that the store renewed the session; report that the store is back.

        An operation of another kind may still fail, so the store is back only after it has answered
        twice without a failure in between.
        """
        with self._lock:
            began_at, has_failed, self._has_failed = self._began_at, self._has_failed, False
            if began_at is None or has_failed:
                return
            self._began_at = None
            lasted = self._clock.elapsed() - began_at
        self._events.tell(Happened.STORE_UP, seconds=lasted)
