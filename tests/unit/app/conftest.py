from datetime import UTC, datetime, timedelta

import pytest

from sempre import Sempre
from sempre.brokers.store import StoreBroker
from sempre.stores.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def elapsed(self) -> float:
        return self.seconds

    def move(self, **by: float) -> None:
        self.seconds += timedelta(**by).total_seconds()


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def app(clock: Hand) -> Sempre:
    return Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)
