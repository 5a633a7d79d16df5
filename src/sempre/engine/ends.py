"""Ends: the runs that are over and wait to be recorded, in batches."""

from collections.abc import Callable
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import Event

from sempre.ports.executor import Ended, Outcome, Run

__all__ = ["CUT_OFF", "SETTLE_WAIT", "End", "Ends"]

SETTLE_WAIT = 0.02
SETTLE_BATCH = 1000
CUT_OFF = "the worker stopped before the run ended"
RELEASED = Outcome(Ended.RELEASED)

End = tuple[Run, Outcome]
"""A run that is over."""


class Ends:
    """A queue of ends; any thread may add one, the settler takes them."""

    def __init__(self) -> None:
        """Begin with an empty queue."""
        self._queue: SimpleQueue[End] = SimpleQueue()
        self._crowded = Event()

    def put(self, run: Run, outcome: Outcome) -> None:
        """Add an end; a whole batch is recorded without waiting for more."""
        self._queue.put((run, outcome))
        if self._queue.qsize() >= SETTLE_BATCH and not self._crowded.is_set():
            self._crowded.set()

    def release(self, run: Run) -> None:
        """Add a run that never began: its claim is given back."""
        self.put(run, RELEASED)

    def cut_off(self, run: Run, now: datetime) -> None:
        """Add a run that a stop cut off: how far the run got is unknown."""
        began = run.execution.started_at or now
        seconds = max(0.0, (now - began).total_seconds())
        self.put(run, Outcome(Ended.INTERRUPTED, error=CUT_OFF, seconds=seconds))

    def empty(self) -> bool:
        """Tell whether the queue is empty."""
        return self._queue.empty()

    def gather(self, wait: float, lingers: Callable[[], bool]) -> list[End]:
        """Return a batch: wait for the first end, then a little for others if more may come."""
        gathered: list[End] = []
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
