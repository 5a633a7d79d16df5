"""Awaiting: a worker that starts while its store is down waits for it, rather than crash.

A store that refuses is another matter: it would do so again, and ends the worker with the reason.
But a store that has already accepted a worker of this command was set up well: that it refuses now,
as rights were withdrawn or a password was changed, is an outage, and the worker waits.
"""

import logging
from collections.abc import Callable
from mmap import mmap
from select import select

from sempre.app.wishes import Wishes
from sempre.clock import Clock
from sempre.engine.breaker import Breaker
from sempre.errors import StoreRefused, StoreUnavailable
from sempre.errors.owners import OwnedByAnother
from sempre.urls import masked, open_store

__all__ = ["Insistence", "asked_within"]

logger = logging.getLogger("sempre")
SLICE = 0.25


class Insistence:
    """Repeats what a store does not let a worker do, until the store does; longer after each try.

    Args:
        url: of the store.
        clock: times the rests.
        asked: waits so many seconds; True as soon as somebody wants us to stop.
        accepted: a byte that all workers of a command share: whether the store has accepted one.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        asked: Callable[[float], bool],
        accepted: mmap | bytearray | None = None,
    ) -> None:
        """Repeat nothing yet."""
        self._url = url
        self._clock = clock
        self._asked = asked
        self._accepted = bytearray(1) if accepted is None else accepted

    def await_store(self) -> bool:
        """Wait until the store answers, which is set up if it is not; nothing is left open."""
        if self(lambda: _open_and_close(self._url)):
            self._accepted[0] = 1
            return True
        return False

    def __call__(self, attempt: Callable[[], object]) -> bool:
        """Make an attempt until it succeeds; False if we were asked to stop before.

        Raises:
            StoreRefused: the store must not be used as it is set up, and never was.
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
                told = "the store %s does not answer; the next try is in %.0f s: %s"
                logger.warning(told, masked(self._url), rest, error)
                if self._asked(rest):
                    return False
                continue
            if breaker.succeeded():
                logger.info("the store %s answers", masked(self._url))
            return True


def asked_within(seconds: float, wishes: Wishes, leash: int | None) -> bool:
    """Wait so long for a wish to stop, or for the end of whoever held the leash.

    In slices, and not in a thread: workers fork their helpers before they have any.
    """
    left = seconds
    while left > 0:
        if wishes.come_within(min(SLICE, left)):
            return True
        if leash is not None and select([leash], [], [], 0)[0]:
            return True
        left -= SLICE
    return False


def _open_and_close(url: str) -> None:
    store = open_store(url)
    try:
        store.upgrade()
    finally:
        store.close()
