"""Whoever works on a database that somebody has emptied is told so, and by what to mend it."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from sempre.errors import StoreGone
from sempre.ports.messages import Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import (
    LEASE,
    claimed,
    enqueued,
    session_of,
    wanted,
    work_of,
)
from tests.integration.sql.mariadb_server import ask, new_database


def is_told_and_mended(dialect: Dialect, empty: Callable[[], None]) -> None:
    store = SqlStore(dialect)
    store.upgrade()
    before, fence = store.uuid, claimed(store, enqueued(store), session_of(store)).fence
    work = work_of(store)
    empty()

    for operation in (
        lambda: store.enqueue([work]),
        lambda: store.tick("one", wanted(), lease=LEASE),
        lambda: store.register(Session("one"), lease=LEASE),
        lambda: store.uuid,
    ):
        with pytest.raises(StoreGone, match="sempre db upgrade"):
            operation()
    store.upgrade(fence=fence)

    assert store.uuid != before
    assert claimed(store, enqueued(store), session_of(store)).fence > fence
    store.close()


@pytest.mark.parametrize("suffixes", [[""], ["", "-wal", "-shm"]])
def test_a_deleted_file_is_noticed_by_who_has_it_open(suffixes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"

    def delete() -> None:
        for suffix in suffixes:
            Path(f"{path}{suffix}").unlink()

    is_told_and_mended(Sqlite(path), delete)


def test_a_replaced_file_is_the_one_that_counts(tmp_path: Path) -> None:
    one, other = SqlStore(Sqlite(tmp_path / "one.db")), SqlStore(Sqlite(tmp_path / "other.db"))
    for store in (one, other):
        store.upgrade()
    found = other.uuid
    session = session_of(other)
    other.close()

    # As one restores a copy: SQLite would take the log of the file before for its own.
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"one.db{suffix}").unlink()
    (tmp_path / "other.db").replace(tmp_path / "one.db")

    with pytest.raises(StoreGone, match="replaced"):
        one.tick(session, wanted(), lease=LEASE)
    one.upgrade(fence=0)
    told = one.tick(session, wanted(), lease=LEASE).value
    assert (told.store, told.alive) == (found, True)
    one.close()


def test_a_dropped_schema_is_noticed(server: str) -> None:
    def drop() -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP SCHEMA emptied CASCADE")

    is_told_and_mended(Postgresql(server, schema="emptied"), drop)


def test_one_table_that_was_dropped_is_made_again(server: str) -> None:
    store = SqlStore(Postgresql(server, schema="maimed"))
    store.upgrade()
    before, mail = store.uuid, enqueued(store)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE maimed.sempre_sessions")
    with pytest.raises(StoreGone):
        session_of(store)

    store.upgrade(fence=0)

    assert store.uuid == before
    assert claimed(store, mail, session_of(store)).id == mail
    store.close()


def test_dropped_tables_are_noticed(mariadb: str) -> None:
    url = new_database(mariadb)
    database = url.partition("localhost/")[2].partition("?")[0]

    def drop() -> None:
        names = [name for (name,) in ask(mariadb, f"SHOW TABLES IN {database}")]
        ask(mariadb, f"DROP TABLE {', '.join(f'{database}.{name}' for name in names)}")

    is_told_and_mended(Mariadb(url), drop)


def test_a_database_that_was_made_again_is_noticed(mariadb: str) -> None:
    url = new_database(mariadb)
    database = url.partition("localhost/")[2].partition("?")[0]

    def recreate() -> None:
        ask(mariadb, f"DROP DATABASE {database}")
        ask(mariadb, f"CREATE DATABASE {database}")

    is_told_and_mended(Mariadb(url), recreate)
