"""What is read together is of one state, and of none that is newer than the time told with it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from sempre.ports.messages import Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.mariadb_server import new_database

NUMBERS = count()
LEASE = timedelta(minutes=5)


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def dialect(
    request: pytest.FixtureRequest, tmp_path: Path, server: str, mariadb: str
) -> Iterator[Dialect]:
    opened: Dialect
    if request.param == "sqlite":
        opened = Sqlite(tmp_path / "jobs.db")
    elif request.param == "postgresql":
        opened = Postgresql(server, schema=f"state_{next(NUMBERS)}")
    else:
        opened = Mariadb(new_database(mariadb))
    yield opened
    opened.close()


def test_what_is_read_is_no_newer_than_the_time_that_is_told_with_it(
    dialect: Dialect, store: SqlStore
) -> None:
    def ask(transaction: Transaction) -> tuple[Any, Sequence[Any]]:
        now = transaction.now
        # In a thread, as SQLite has a connection for each.
        other = Thread(target=store.register, args=[Session("late")], kwargs={"lease": LEASE})
        other.start()
        other.join()
        return now, transaction.rows("all_sessions")

    assert dialect.read(ask)[1] == []
    assert [each.id for each in store.sessions().value] == ["late"]
