"""The engine keeps every policy on SQLite."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_sqlite import store  # noqa: F401 - a fixture
