"""The SQL store on MariaDB keeps the contract of a store."""

from collections.abc import Iterator

import pytest

from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.testing.contracts.store import *  # noqa: F403
from tests.integration.sql.mariadb_server import new_database


@pytest.fixture
def store(mariadb: str) -> Iterator[Store]:
    opened = SqlStore(Mariadb(new_database(mariadb)))
    opened.upgrade()
    yield opened
    opened.close()
