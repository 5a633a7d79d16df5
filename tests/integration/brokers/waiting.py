"""Waiting in tests for what a server or another thread does, without sleeping for a time."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

import pytest

from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Broker, Delivery

__all__ = ["PATIENCE", "eventually", "healed"]

T = TypeVar("T")
PATIENCE = 30.0
PAUSE = 0.01


def eventually(ask: Callable[[], T]) -> T:
    """Ask until the answer is something; return it."""
    for _ in range(int(PATIENCE / PAUSE)):
        if answer := ask():
            return answer
        Event().wait(PAUSE)
    pytest.fail("it did not happen")


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
