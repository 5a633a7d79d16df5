"""Ends: the runs that are over and wait to be recorded, in batches."""

from collections.abc import Callable
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import Event

from sempre.engine.core import Engine
from sempre.engine.run_logs import RunLogWriter
from sempre.engine.settler import End, Settler
from sempre.ports.executor import Ended, Outcome, Run

__all__ = ["CUT_OFF", "SETTLE_WAIT", "Ends"]

SETTLE_WAIT = 0.02
SETTLE_BATCH = 1000
CUT_OFF = "the worker stopped before the run ended"
RELEASED = Outcome(Ended.RELEASED)


class Ends:
    """A queue of ends; any thread may add one, one thread records them.

    Attributes:
        unsettled: ends that the store has not recorded yet, though it was asked to.
    """

    def __init__(self, engine: Engine, logs: RunLogWriter) -> None:
        """Begin with an empty queue; record ends, after logs, in the store of an engine."""
        self._logs = logs
        self._settler = Settler(engine)
        self._queue: SimpleQueue[End] = SimpleQueue()
        self._crowded = Event()
        self.unsettled: list[End] = []

    @property
    def is_empty(self) -> bool:
        """Whether no end waits here; one that another thread is adding or taking may be missed."""
        return not self.has_queued and not self.unsettled

    @property
    def has_queued(self) -> bool:
        """Whether there are ends that the store was not asked to record yet."""
        return not self._queue.empty()

    def put(self, run: Run, outcome: Outcome) -> None:
        """Add an end; a whole batch is recorded without waiting for more."""
        self._logs.note_end(run, outcome)
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

    def settle(self, wait: float, lingers: Callable[[], bool]) -> tuple[list[End], list[End]]:
        """Record a batch of ends of one session; wait for the first, and a little for others.

        Args:
            wait: for the first end, in seconds; 0 records what there is.
            lingers: whether more ends may come soon.

        Returns:
            The batch, and those of it that have to be recorded once more.

        Raises:
            StoreUnavailable: the next call records the batch.
        """
        self.unsettled += self._gather(wait, lingers)
        if not self.unsettled:
            return [], []
        session = self.unsettled[0][0].execution.session
        batch = [end for end in self.unsettled if end[0].execution.session == session]
        others = [end for end in self.unsettled if end[0].execution.session != session]
        # First: a reader who sees that a run has ended can read its whole log.
        self._logs.write_ended()
        left = self._settler.settle(batch, session=session)
        self.unsettled = [*left, *others]
        return batch, left

    def _gather(self, wait: float, lingers: Callable[[], bool]) -> list[End]:
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
