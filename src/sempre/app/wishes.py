"""Wishes: that this process should stop, as signal handlers and threads tell it.

A signal may interrupt the handler of another one, or whoever waits to hear of it, in the very same
thread. An event, or anything else with a lock, would then wait for itself for ever: a wish takes
none, and what is to be done about it is done by who waits, not by the handler.
"""

from contextlib import suppress
from queue import Empty, SimpleQueue

__all__ = ["Wishes"]

SLICE = 1.0


class Wishes:
    """Keeps wishes in the order they came in, each for one who waits.

    Attributes:
        is_made: whether there was any so far.
    """

    def __init__(self) -> None:
        # Its `put` can interrupt its `put` and its `get`, which few things promise.
        self._queue: SimpleQueue[float | None] = SimpleQueue()
        self.is_made = False

    def make(self, at: float | None = None) -> None:
        """Make one, from wherever this is; a signal's has the instant at which it was heard."""
        self.is_made = True
        self._queue.put(at)

    def next(self) -> float | None:
        """Wait for the next one, and return its instant; one that a thread has made has none."""
        while True:
            # A signal that comes right before a wait begins does not end it: look again.
            with suppress(Empty):
                return self._queue.get(timeout=SLICE)

    def come_within(self, seconds: float) -> bool:
        """Wait so long at most; True as soon as there is one, which stays to be heard."""
        if not self.is_made:
            with suppress(Empty):
                self._queue.put(self._queue.get(timeout=seconds))
        return self.is_made
