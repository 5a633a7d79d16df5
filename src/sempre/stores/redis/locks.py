"""Locks: while a worker plans a claim of a schedule, plans of other workers for it are refused.

A lock only avoids plans that would not fit: safety rests on the comparison of each plan with its
schedule. A lock expires after one second, in case its worker has crashed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from secrets import token_hex
from threading import Event
from typing import Any

from sempre.errors import StoreError
from sempre.ports.messages import Order
from sempre.stores.redis import arguments

__all__ = ["Locks"]

MILLISECONDS = 1000
PAUSE = 0.005
TRIES = int(MILLISECONDS / 1000 / PAUSE)
LOCKED = 2


class Locks:
    """Locks of schedules, and plans that wait for them."""

    def __init__(
        self,
        run: Callable[[str, Iterable[str | int]], Any],
        *,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        """Lock schedules, and apply plans, by scripts."""
        self._run = run
        self._wait = wait or Event().wait

    @contextmanager
    def locked(self, ids: Sequence[str]) -> Iterator[str]:
        """Lock those schedules of executions that are not locked; yield the token of the lock."""
        token = token_hex(8)
        self._run("lock", [token, MILLISECONDS, *arguments.listed(ids)])
        try:
            yield token
        finally:
            # A lock that cannot be released expires.
            with suppress(StoreError):
                self._run("unlock", [token, *arguments.listed(ids)])

    def apply(self, orders: Sequence[Order], token: str = "") -> list[bool]:
        """Carry out plans; a plan waits while another token has its schedule locked."""
        answers: list[int] = self._run("apply", [token, *arguments.orders(orders)])
        for _ in range(TRIES):
            waiting = [place for place, answer in enumerate(answers) if answer == LOCKED]
            if not waiting:
                break
            self._wait(PAUSE)
            again = [orders[place] for place in waiting]
            retried = self._run("apply", [token, *arguments.orders(again)])
            for place, answer in zip(waiting, retried, strict=True):
                answers[place] = answer
        return [answer == 1 for answer in answers]
