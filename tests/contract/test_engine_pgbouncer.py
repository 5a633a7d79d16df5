"""The engine keeps every policy on PostgreSQL behind PgBouncer."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_pgbouncer import server, store  # noqa: F401 - fixtures
