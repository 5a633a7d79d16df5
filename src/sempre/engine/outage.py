"""Outages: reports that the store fails this process, at intervals, and that the store is back.

A store that is down, full, read-only or refuses a right is met by every loop of a worker again and
again. The first failure is reported, and then one in `EVERY` seconds.
"""

from collections import Counter
from threading import Lock

from sempre.clock import Clock
from sempre.engine.events import Events, Happened
from sempre.errors import StoreGone, StoreLocked, StoreRefused

__all__ = ["Outage"]

EVERY = 60.0
# Every loop tries again after a second.
CALM = 2.0
KINDS = {StoreGone: "gone", StoreRefused: "refused", StoreLocked: "locked"}


class Outage:
    """Whether the store fails this process; safe to be used by many threads.

    Attributes:
        failures: the number of failures since this process began, by kind: `unavailable`, `locked`,
            `refused` or `gone`.
    """

    def __init__(self, clock: Clock, events: Events) -> None:
        """Begin with a store that answers."""
        self._clock = clock
        self._events = events
        self._began_at: float | None = None
        self._reported_at = 0.0
        self._failed_at = 0.0
        self._lock = Lock()
        self.failures: Counter[str] = Counter()

    @property
    def is_under_way(self) -> bool:
        """Whether the store fails this process at the moment."""
        return self._began_at is not None

    def failed(self, error: object) -> None:
        """Note that the store failed; report the first failure, and then one in a minute."""
        kind = next(
            (word for each, word in KINDS.items() if isinstance(error, each)), "unavailable"
        )
        with self._lock:
            self.failures[kind] += 1
            now = self._failed_at = self._clock.elapsed()
            if self._began_at is None:
                self._began_at = now
            elif now - self._reported_at < EVERY:
                return
            self._reported_at = now
        self._events.emit(Happened.STORE_DOWN, error=str(error))

    def answered(self) -> None:
        """Note that the store renewed the session; report that the store is back.

        An operation of another kind may still fail: the store is back after two calm seconds.
        """
        with self._lock:
            began_at, now = self._began_at, self._clock.elapsed()
            if began_at is None or now - self._failed_at < CALM:
                return
            self._began_at = None
        self._events.emit(Happened.STORE_UP, seconds=now - began_at)
