"""Signals: SIGTERM and SIGINT become requests to stop this process, as do threads that ask for it.

A signal may interrupt the handler of another signal, or the thread that waits for one. An event, or
anything else with a lock, could then wait for itself for ever: a stop request takes no lock. The
thread that waits acts on a request, not the handler.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType

from sempre.clock import Clock

__all__ = ["StopRequests", "stop_requests_by_signal"]

SLICE = 1.0


class StopRequests:
    """Requests to stop this process, in order; each is received once.

    Attributes:
        were_made: whether there was any request so far.
    """

    def __init__(self) -> None:
        # `SimpleQueue.put` may interrupt itself and `get`, which few queues allow.
        self._queue: SimpleQueue[float | None] = SimpleQueue()
        self.were_made = False

    def add(self, at: float | None = None) -> None:
        """Request a stop, from any thread or signal handler; `at` is the instant of a signal."""
        self.were_made = True
        self._queue.put(at)

    def next(self) -> float | None:
        """Wait for the next request; return the instant of its signal, None for a thread's."""
        while True:
            # A signal right before the wait begins does not end the wait: wait in slices.
            with suppress(Empty):
                return self._queue.get(timeout=SLICE)

    def come_within(self, seconds: float) -> bool:
        """Wait at most this long; True once there is a request, which `next` still returns."""
        if not self.were_made:
            with suppress(Empty):
                self._queue.put(self._queue.get(timeout=seconds))
        return self.were_made


@contextmanager
def stop_requests_by_signal(clock: Clock) -> Iterator[StopRequests]:
    """Turn SIGTERM and SIGINT into stop requests inside a `with` block."""
    requests = StopRequests()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        requests.add(clock.elapsed())

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield requests
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
