"""Waiting for the messages of a server that fails now and then."""

from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Broker, Delivery
from sempre.testing.polling import eventually

__all__ = ["healed"]


def healed(broker: Broker, lane: str) -> tuple[list[Delivery], int]:
    """Wait for messages past any number of failures; return them and how many there were."""
    failures = 0

    def ask() -> list[Delivery]:
        nonlocal failures
        try:
            return broker.reserve([lane], limit=100, wait=1)
        except BrokerUnavailable:
            failures += 1
            return []

    return eventually(ask), failures
