"""The engine keeps every policy on the memory store."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_memory import store  # noqa: F401 - a fixture
