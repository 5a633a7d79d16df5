"""One server of each kind for the tests of this folder."""

from collections.abc import Iterator

import pytest

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect
from tests.integration.sql.mariadb_server import mariadb_server
from tests.integration.sql.postgresql_server import postgresql_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgresql_server() as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    with mariadb_server() as path:
        yield path


@pytest.fixture
def store(dialect: Dialect) -> SqlStore:
    """A store that is set up in the database of the test."""
    opened = SqlStore(dialect)
    opened.upgrade()
    return opened
