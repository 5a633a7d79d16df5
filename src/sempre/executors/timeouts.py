"""One thread that watches the time limits of all runs of an executor."""

import logging
from collections.abc import Callable, Hashable
from math import inf
from threading import Condition, Thread

from sempre.clock import Clock

__all__ = ["Timeouts"]

# A wait does not count the time that the host was suspended; the clock does.
LONGEST_WAIT = 60.0
_LOG = logging.getLogger("sempre.executors")


class Timeouts:
    """Calls an action once for each key at its time, late but never early, from its own thread.

    Each time a key is due the thread scans all keys: fit for thousands, not for millions. In return
    a forgotten key leaves no entry behind. The thread begins with the first key.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = Condition()
        self._actions: dict[Hashable, tuple[float, Callable[[], object]]] = {}
        self._next = inf
        self._thread: Thread | None = None
        self._stopped = False

    def set(self, key: Hashable, at: float, action: Callable[[], object]) -> None:
        """Call an action at a point of the clock's `elapsed`; replaces the key's last action."""
        self._actions[key] = (at, action)
        if at >= self._next:
            # The thread scans all keys before that.
            return
        with self._changed:
            if self._thread is None and not self._stopped:
                thread = Thread(target=self._watch, name="sempre-timeouts", daemon=True)
                thread.start()
                self._thread = thread
            self._changed.notify()

    def forget(self, key: Hashable) -> None:
        """Drop the action of a key; an action that has begun is not undone."""
        self._actions.pop(key, None)

    def stop(self) -> None:
        """Drop all actions and end the thread."""
        with self._changed:
            self._stopped = True
            self._actions.clear()
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
            for action in due:
                self._call(action)

    def _due(self) -> list[Callable[[], object]]:
        now = self._clock.elapsed()
        # The scan may miss a key that is set from here on: `set` has to notify the thread.
        self._next = inf
        due = [(key, action) for key, (at, action) in self._actions.copy().items() if at <= now]
        for key, _ in due:
            self._actions.pop(key, None)
        self._next = min((at for at, _ in self._actions.copy().values()), default=inf)
        return [action for _, action in due]

    def _call(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception:  # noqa: BLE001 - one failing action must not keep the others from being called
            _LOG.exception("the timeout of a run raised an error")
