"""Early tickets: those that a broker which counts in whole seconds delivers a little too soon.

They are kept in hand until their time has come, rather than put back for another whole second. A
worker that ends with some in hand loses nothing: the broker delivers them again.
"""

from heapq import heappop, heappush
from itertools import count

from sempre.engine.wake_times import NEVER
from sempre.ports.broker import Delivery

__all__ = ["EarlyTickets"]


class EarlyTickets:
    """Tickets in hand, by the point of the steady clock at which their execution is due."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tickets: list[tuple[float, int, str, Delivery]] = []
        self._order = count()

    @property
    def next(self) -> float:
        """When the first one is due."""
        return self._tickets[0][0] if self._tickets else NEVER

    def keep(self, execution: str, delivery: Delivery, *, until: float) -> None:
        """Keep a ticket until a point of the clock."""
        heappush(self._tickets, (until, next(self._order), execution, delivery))

    def due(self, elapsed: float, limit: int) -> dict[str, Delivery]:
        """Take out what is due, at most `limit`, by the id of its execution.

        A second ticket of the same execution is left for the next time: each has to be finished.
        """
        taken: dict[str, Delivery] = {}
        while self.next <= elapsed and len(taken) < limit and self._tickets[0][2] not in taken:
            _, _, execution, delivery = heappop(self._tickets)
            taken[execution] = delivery
        return taken
