"""The wait for a store: a worker that starts while its store is down waits, rather than crash.

A store that refuses a worker would refuse the next one: the refusal ends the worker with its
reason. But a store that has accepted a worker of this command before was set up well: a refusal
now, after rights were withdrawn or a password was changed, is an outage, and the worker waits.
"""

import logging
from collections.abc import Callable
from mmap import mmap
from select import select

from sempre.app.process.signals import StopRequests
from sempre.clock import Clock
from sempre.engine.breaker import Breaker
from sempre.errors import StoreRefused, StoreUnavailable
from sempre.errors.owners import OwnedByAnother
from sempre.urls import masked, open_store

__all__ = ["StoreRetry", "is_stopped_within"]

logger = logging.getLogger("sempre")
SLICE = 0.25


class StoreRetry:
    """Retries what fails while the store is down, with longer rests, until it succeeds.

    Args:
        url: of the store.
        clock: times the rests.
        is_stopped: waits for a number of seconds; True as soon as a stop is requested.
        accepted: a byte that all workers of a command share: 1 if the store has accepted one.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        is_stopped: Callable[[float], bool],
        accepted: mmap | bytearray | None = None,
    ) -> None:
        """Try nothing yet."""
        self._url = url
        self._clock = clock
        self._is_stopped = is_stopped
        self._accepted = bytearray(1) if accepted is None else accepted

    def wait_for_store(self) -> bool:
        """Wait until the store answers, and set it up; False if a stop is requested before.

        The connection is closed again.
        """
        if self.retry(lambda: _open_and_close(self._url)):
            self._accepted[0] = 1
            return True
        return False

    def retry(self, attempt: Callable[[], object]) -> bool:
        """Make an attempt until it succeeds; False if a stop is requested before.

        Raises:
            StoreRefused: the store must not be used as it is set up, and never accepted a worker.
            OwnedByAnother: the code declares schedules of another owner; no wait changes that.
        """
        breaker = Breaker(self._clock)
        while True:
            try:
                attempt()
            except OwnedByAnother:
                raise
            except (StoreUnavailable, StoreRefused) as error:
                if isinstance(error, StoreRefused) and not self._accepted[0]:
                    raise
                rest = breaker.failed()
                text = "the store %s does not answer; the next try is in %.0f s: %s"
                logger.warning(text, masked(self._url), rest, error)
                if self._is_stopped(rest):
                    return False
                continue
            if breaker.succeeded():
                logger.info("the store %s answers", masked(self._url))
            return True


def is_stopped_within(seconds: float, requests: StopRequests, parent_pipe: int | None) -> bool:
    """Wait this long; True as soon as a stop is requested, or the parent at the pipe has ended.

    It waits in slices, not in a thread: a worker forks before it has threads.
    """
    left = seconds
    while left > 0:
        if requests.come_within(min(SLICE, left)):
            return True
        if parent_pipe is not None and select([parent_pipe], [], [], 0)[0]:
            return True
        left -= SLICE
    return False


def _open_and_close(url: str) -> None:
    store = open_store(url)
    try:
        store.upgrade()
    finally:
        store.close()
