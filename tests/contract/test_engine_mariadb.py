"""The engine keeps every policy on MariaDB."""

from sempre.testing.contracts.engine import *  # noqa: F403
from tests.contract.test_mariadb import store  # noqa: F401 - a fixture
