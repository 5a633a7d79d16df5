"""Early tickets: a broker that counts in whole seconds delivers tickets a little too soon.

A worker keeps an early ticket until its execution is due, rather than put it back for another whole
second. If the worker ends first, nothing is lost: the broker delivers the ticket again.
"""

from heapq import heappop, heappush
from itertools import count

from sempre.engine.wake_times import NEVER
from sempre.ports.broker import Delivery

__all__ = ["EarlyTickets"]


class EarlyTickets:
    """Tickets that are kept, by the point of the steady clock at which their execution is due."""

    def __init__(self) -> None:
        """Begin without a ticket."""
        self._tickets: list[tuple[float, int, str, Delivery]] = []
        self._order = count()

    @property
    def next(self) -> float:
        """When the first ticket is due."""
        return self._tickets[0][0] if self._tickets else NEVER

    def keep(self, execution: str, delivery: Delivery, *, until: float) -> None:
        """Keep a ticket until a point of the steady clock."""
        heappush(self._tickets, (until, next(self._order), execution, delivery))

    def due(self, elapsed: float, limit: int) -> dict[str, Delivery]:
        """Remove and return due tickets, at most `limit`, by the id of their execution.

        A second ticket of an execution stays for the next call: each has to be acknowledged.
        """
        taken: dict[str, Delivery] = {}
        while self.next <= elapsed and len(taken) < limit and self._tickets[0][2] not in taken:
            _, _, execution, delivery = heappop(self._tickets)
            taken[execution] = delivery
        return taken
