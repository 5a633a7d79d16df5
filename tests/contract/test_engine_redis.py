"""The engine keeps every policy on Redis."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_redis import store  # noqa: F401 - a fixture
