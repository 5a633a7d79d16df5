"""The SQL store on PostgreSQL keeps the contract of a store."""

from collections.abc import Iterator
from itertools import count

import pytest

from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store import *  # noqa: F403
from tests.integration.sql.postgresql_server import postgresql_server

NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql_server(fsync="off") as conninfo:
        yield conninfo


@pytest.fixture
def store(server: str) -> Iterator[Store]:
    opened = SqlStore(Postgresql(server, schema=f"contract_{next(NUMBERS)}", any_flush=True))
    opened.upgrade()
    yield opened
    opened.close()
