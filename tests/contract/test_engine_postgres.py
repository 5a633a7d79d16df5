"""The engine keeps every policy on PostgreSQL."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_postgres import store  # noqa: F401 - a fixture
