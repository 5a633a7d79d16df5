"""The memory broker keeps the contract of a broker."""

from collections.abc import Iterator

import pytest

from sempre.brokers.memory import MemoryBroker
from sempre.ports.broker import Broker
from sempre.testing.contracts.broker import *  # noqa: F403


@pytest.fixture
def broker() -> Iterator[Broker]:
    opened = MemoryBroker()
    yield opened
    opened.close()


@pytest.fixture
def hasty() -> Iterator[Broker]:
    opened = MemoryBroker(visibility=1)
    yield opened
    opened.close()
