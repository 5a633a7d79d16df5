"""Databases with an empty store, and callers of them that are set up in different ways."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pymysql  # type: ignore[import-untyped]

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.mariadb.address import read_address
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.transactional import Database
from tests.integration.sql.mariadb_server import new_database

__all__ = [
    "Servers",
    "database_of",
    "on_mariadb",
    "on_mariadb_of_old_snapshots",
    "on_postgresql",
    "on_repeatable_postgresql",
    "on_sqlite",
    "opened",
]

NUMBERS = count()


class Servers(NamedTuple):
    postgresql: str
    mariadb: str


@contextmanager
def opened(
    make: Callable[[Servers, Path], Database], servers: Servers, folder: Path
) -> Iterator[Database]:
    """Make a database and set its store up."""
    made = make(servers, folder)
    made.store.upgrade()
    yield made
    made.store.close()


def on_sqlite(_: Servers, folder: Path) -> Database:
    store = SqlStore(Sqlite(folder / "jobs.db"))
    return Database(
        store,
        connect=lambda: sqlite3.connect(folder / "jobs.db"),
        elsewhere=lambda: sqlite3.connect(folder / "other.db"),
        driver_error=sqlite3.Error,
    )


def on_postgresql(servers: Servers, _: Path, **options: Any) -> Database:  # noqa: ANN401
    return database_of(servers.postgresql, **options)


def database_of(server: str, **options: Any) -> Database:  # noqa: ANN401
    """Return a new database of a PostgreSQL server, whose callers have these options."""
    with psycopg.connect(server, autocommit=True) as connection:
        name = f"jobs_{next(NUMBERS)}"
        connection.execute(f'CREATE DATABASE "{name}"')
    conninfo = server.replace("dbname=postgres", f"dbname={name}")

    def connect() -> psycopg.Connection[Any]:
        connection = psycopg.connect(conninfo)
        for option, value in options.items():
            setattr(connection, option, value)
        return connection

    return Database(
        SqlStore(Postgresql(conninfo, any_flush=True)),
        connect=connect,
        elsewhere=lambda: psycopg.connect(server),
        driver_error=psycopg.Error,
    )


def on_repeatable_postgresql(servers: Servers, folder: Path) -> Database:
    level = psycopg.IsolationLevel.REPEATABLE_READ
    return on_postgresql(servers, folder, isolation_level=level)


def on_mariadb(servers: Servers, _: Path, **options: Any) -> Database:  # noqa: ANN401
    url, other = new_database(servers.mariadb), new_database(servers.mariadb)
    return Database(
        SqlStore(Mariadb(url)),
        connect=lambda: pymysql.connect(**read_address(url)[1], **options),
        elsewhere=lambda: pymysql.connect(**read_address(other)[1]),
        driver_error=pymysql.Error,
    )


def on_mariadb_of_old_snapshots(servers: Servers, folder: Path) -> Database:
    command = "SET innodb_snapshot_isolation = OFF, time_zone = '+05:30', sql_mode = ''"
    return on_mariadb(servers, folder, init_command=command)
