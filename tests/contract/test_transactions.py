"""The SQL stores keep the contract of a transactional store, on every database."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.mariadb_pool import read_address
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.transactional import *  # noqa: F403
from sempre.testing.contracts.transactional import Database
from tests.integration.sql.mariadb_server import mariadb_server, new_database
from tests.integration.sql.postgresql_server import postgresql_server

NUMBERS = count()


class Servers(NamedTuple):
    postgresql: str
    mariadb: str


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with postgresql_server(fsync="off") as conninfo, mariadb_server() as socket:
        yield Servers(conninfo, socket)


def on_sqlite(_: Servers, folder: Path) -> Database:
    store = SqlStore(Sqlite(folder / "jobs.db"))
    return Database(
        store,
        connect=lambda: sqlite3.connect(folder / "jobs.db"),
        elsewhere=lambda: sqlite3.connect(folder / "other.db"),
        driver_error=sqlite3.Error,
    )


def on_postgresql(servers: Servers, _: Path, **options: Any) -> Database:  # noqa: ANN401
    with psycopg.connect(servers.postgresql, autocommit=True) as connection:
        name = f"jobs_{next(NUMBERS)}"
        connection.execute(f'CREATE DATABASE "{name}"')
    conninfo = servers.postgresql.replace("dbname=postgres", f"dbname={name}")

    def connect() -> psycopg.Connection[Any]:
        connection = psycopg.connect(conninfo)
        for option, value in options.items():
            setattr(connection, option, value)
        return connection

    return Database(
        SqlStore(Postgresql(conninfo, any_flush=True)),
        connect=connect,
        elsewhere=lambda: psycopg.connect(servers.postgresql),
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


EVERY = [
    on_sqlite,
    on_postgresql,
    on_repeatable_postgresql,
    on_mariadb,
    on_mariadb_of_old_snapshots,
]


@pytest.fixture(params=EVERY, ids=lambda each: each.__name__)
def database(
    request: pytest.FixtureRequest, servers: Servers, tmp_path: Path
) -> Iterator[Database]:
    make: Callable[[Servers, Path], Database] = request.param
    made = make(servers, tmp_path)
    made.store.upgrade()
    yield made
    made.store.close()
