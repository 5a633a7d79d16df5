"""The SQL store on SQLite keeps the contract of a store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store import *  # noqa: F403


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = SqlStore(Sqlite(tmp_path / "jobs.db"))
    opened.upgrade()
    yield opened
    opened.close()
