"""Polling: waiting in a test for what a server or another thread does, for a bounded time."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from sempre.clock import SystemClock

__all__ = ["eventually"]

T = TypeVar("T")
PATIENCE = 120.0
# The first answers are asked for in short order; each pause is twice as long as the one before.
FIRST_PAUSE = 0.001
LONGEST_PAUSE = 0.05


def eventually(
    ask: Callable[[], T | None],
    *,
    otherwise: Callable[[], object] = str,
    patience: float = PATIENCE,
) -> T:
    """Ask until the answer is true, and return the answer.

    Raises:
        AssertionError: no answer was true within `patience` seconds; `otherwise` says why.
    """
    clock, pause = SystemClock(), FIRST_PAUSE
    until = clock.elapsed() + patience
    while not (answer := ask()):
        if clock.elapsed() > until:
            raise AssertionError(f"it did not happen within {patience:g} seconds: {otherwise()}")
        Event().wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return answer
