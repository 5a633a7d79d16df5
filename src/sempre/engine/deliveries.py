"""Deliveries: what becomes of delivered tickets, once the claims of their rows are decided.

A ticket whose row was claimed, or is gone, is acknowledged. A ticket that came early, or whose
claim was refused, is kept for a moment or put back. A ticket of an unknown job is left to other
workers.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sempre.engine.claims import ClaimResult
from sempre.engine.core import Engine
from sempre.engine.early_tickets import EarlyTickets
from sempre.ports.broker import Delivery

__all__ = ["REFUSED_RETRY", "Deliveries", "seconds_until"]

FOREIGN_DELAY = 5.0
REFUSED_DELAY = 1.0
REFUSED_RETRY = 0.1
"""Seconds after which a refused claim is tried again."""


class Deliveries:
    """The tickets of one worker.

    Attributes:
        early: tickets that are kept, to be claimed in a moment.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin without a ticket."""
        self._engine = engine
        self._patience = engine.bell.broker.capabilities.precision * 2
        self.early = EarlyTickets()
        # Executions whose claim was refused once, and whose tickets are kept for that reason.
        self._refused: set[str] = set()

    def give_back(
        self, tickets: Mapping[str, Delivery], result: ClaimResult, finished: list[Delivery]
    ) -> None:
        """Keep, put back or acknowledge tickets, by what became of their executions.

        Args:
            tickets: by the id of their execution.
            result: what became of the executions.
            finished: other deliveries, to be acknowledged.
        """
        now = self._engine.time.now()
        for key, delivery in tickets.items():
            if key in result.early:
                self._keep_or_put_back(key, delivery, seconds_until(result.early[key], now))
            elif key in result.unroutable:
                self.put_back(delivery, FOREIGN_DELAY)
            elif key in result.refused:
                self._try_again(key, delivery)
            else:
                self._refused.discard(key)
                finished.append(delivery)
        if finished:
            self._engine.bell.attempt(lambda broker: broker.acknowledge(finished))

    def put_back(self, delivery: Delivery, delay: float) -> None:
        """Let the broker deliver a message again after a delay in seconds."""
        self._engine.bell.attempt(lambda broker: broker.put_back([delivery], delay=delay))

    def _try_again(self, key: str, delivery: Delivery) -> None:
        """Keep a ticket whose claim was refused; the second time, let the broker deliver it again.

        Kept at first: a broker may count in whole seconds, and the row is late already. Then put
        back: the store may refuse this session, and another worker has another session.
        """
        if key in self._refused:
            self._refused.discard(key)
            self.put_back(delivery, REFUSED_DELAY)
        else:
            self._refused.add(key)
            self.early.keep(key, delivery, until=self._engine.clock.elapsed() + REFUSED_RETRY)

    def _keep_or_put_back(self, key: str, delivery: Delivery, wait: float) -> None:
        if wait <= self._patience:
            self.early.keep(key, delivery, until=self._engine.clock.elapsed() + wait)
        else:
            self.put_back(delivery, wait)


def seconds_until(instant: datetime, now: datetime) -> float:
    """Return the seconds left until an instant; 0 once it has passed."""
    return max(0.0, (instant - now) / timedelta(seconds=1))
