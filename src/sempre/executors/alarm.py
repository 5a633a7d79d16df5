"""One thread that watches the time limits of all runs of an executor."""

import logging
from collections.abc import Callable, Hashable
from math import inf
from threading import Condition, Thread

from sempre.clock import Clock

__all__ = ["Alarm"]

# A wait does not count the time that the host was suspended; the clock does.
LONGEST_WAIT = 60.0
_LOG = logging.getLogger("sempre.executors")


class Alarm:
    """Rings once for each key at its time, late but never early, from a thread of its own.

    It looks at every key when one is due, so it suits some thousand keys, not millions; in return
    a key that is forgotten leaves nothing behind. The thread begins with the first key.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = Condition()
        self._rings: dict[Hashable, tuple[float, Callable[[], object]]] = {}
        self._next = inf
        self._thread: Thread | None = None
        self._stopped = False

    def set(self, key: Hashable, at: float, ring: Callable[[], object]) -> None:
        """Ring at a point of the clock's `elapsed`; it replaces what was set for the key."""
        self._rings[key] = (at, ring)
        if at >= self._next:
            # Who watches looks at all of them before that.
            return
        with self._changed:
            if self._thread is None and not self._stopped:
                thread = Thread(target=self._watch, name="sempre-alarm", daemon=True)
                thread.start()
                self._thread = thread
            self._changed.notify()

    def forget(self, key: Hashable) -> None:
        """Do not ring for a key; a ring that has begun is not undone."""
        self._rings.pop(key, None)

    def stop(self) -> None:
        """Ring no more, and end the thread."""
        with self._changed:
            self._stopped = True
            self._rings.clear()
            self._changed.notify()

    def _watch(self) -> None:
        while True:
            with self._changed:
                due = self._due()
                while not due and not self._stopped:
                    left = min(self._next - self._clock.elapsed(), LONGEST_WAIT)
                    self._changed.wait(None if self._next == inf else max(left, 0))
                    due = self._due()
                if self._stopped:
                    return
            for ring in due:
                self._ring(ring)

    def _due(self) -> list[Callable[[], object]]:
        now = self._clock.elapsed()
        # A key that is set from here on may not be among those that are looked at.
        self._next = inf
        due = [(key, ring) for key, (at, ring) in self._rings.copy().items() if at <= now]
        for key, _ in due:
            self._rings.pop(key, None)
        self._next = min((at for at, _ in self._rings.copy().values()), default=inf)
        return [ring for _, ring in due]

    def _ring(self, ring: Callable[[], object]) -> None:
        try:
            ring()
        except Exception:  # noqa: BLE001 - one ring must not silence the others
            _LOG.exception("an alarm could not be heard")
