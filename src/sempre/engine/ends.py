"""Ends: the runs that are over and wait to be recorded, in batches."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event

from sempre.engine.settling import Finished

__all__ = ["SETTLE_WAIT", "Ends"]

SETTLE_WAIT = 0.02
SETTLE_BATCH = 1000


class Ends:
    """A queue of ends; any thread may add one, the settler takes them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._queue: SimpleQueue[Finished] = SimpleQueue()
        self._crowded = Event()

    def put(self, finished: Finished) -> None:
        """Add an end; with a whole batch of them nobody waits for more."""
        self._queue.put(finished)
        if self._queue.qsize() >= SETTLE_BATCH and not self._crowded.is_set():
            self._crowded.set()

    def empty(self) -> bool:
        """Tell whether there are none."""
        return self._queue.empty()

    def gather(self, wait: float, lingers: Callable[[], bool]) -> list[Finished]:
        """Return a batch: wait for the first, then a little for others if more may come."""
        gathered: list[Finished] = []
        try:
            gathered.append(self._queue.get(block=wait > 0, timeout=wait or None))
            if wait and lingers():
                self._crowded.wait(SETTLE_WAIT)
            self._crowded.clear()
            while len(gathered) < SETTLE_BATCH:
                gathered.append(self._queue.get_nowait())
        except Empty:
            pass
        return gathered
