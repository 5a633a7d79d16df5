"""Awaiting: a worker that starts while its store is down waits for it, rather than crash.

A store that refuses is another matter: it would do so again, and ends the worker with the reason.
"""

import logging
from collections.abc import Callable
from select import select

from sempre.app.wishes import Wishes
from sempre.clock import Clock
from sempre.engine.breaker import Breaker
from sempre.errors import StoreUnavailable
from sempre.urls import masked, open_store

__all__ = ["asked_within", "await_store"]

logger = logging.getLogger("sempre")
SLICE = 0.25


def await_store(url: str, *, clock: Clock, asked: Callable[[float], bool]) -> bool:
    """Wait until a store answers, longer after each try; nothing is left open.

    Args:
        url: of the store, which is set up if it is not.
        clock: times the rests.
        asked: waits so many seconds; True as soon as somebody wants us to stop.

    Returns:
        Whether it is there; False if we were asked to stop before.

    Raises:
        StoreRefused: it must not be used as it is set up.
    """
    breaker = Breaker(clock)
    while True:
        try:
            _open_and_close(url)
        except StoreUnavailable as error:
            rest = breaker.failed()
            told = "the store %s does not answer; the next try is in %.0f s: %s"
            logger.warning(told, masked(url), rest, error)
            if asked(rest):
                return False
            continue
        if breaker.succeeded():
            logger.info("the store %s answers", masked(url))
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
