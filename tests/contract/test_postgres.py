"""The SQL store on PostgreSQL keeps the contract of a store."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store import *  # noqa: F403


@pytest.fixture
def store(postgresql: str) -> Iterator[Store]:
    opened = SqlStore(Postgresql(postgresql, schema=f"contract_{uuid4().hex}", any_flush=True))
    opened.upgrade()
    yield opened
    opened.close()
