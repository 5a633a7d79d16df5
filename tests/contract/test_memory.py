"""The memory store keeps the contract of a store."""

import pytest

from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.store import *  # noqa: F403


@pytest.fixture
def store() -> Store:
    return MemoryStore()
