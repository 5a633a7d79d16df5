"""Databases with a store and a table of the user's own, and an application whose bell is heard."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pymysql  # type: ignore[import-untyped]

from sempre import Job, Receipt, Sempre
from sempre.brokers.memory import MemoryBroker
from sempre.domain.states import State
from sempre.stores.sql.dialects.mariadb.address import read_address
from tests.integration.sql.mariadb_server import new_database

__all__ = ["Place", "Shop", "on_mariadb", "on_postgresql", "on_sqlite", "opened"]

NUMBERS = count()


@dataclass(frozen=True)
class Place:
    """A database.

    Attributes:
        store: its URL, as the application takes it.
        alchemy: its URL, as SQLAlchemy takes it.
        connect: opens a connection of the driver, given options of it.
        error: what the driver raises.
    """

    store: str
    alchemy: str
    connect: Callable[..., Any]
    error: type[Exception]

    def run(self, text: str) -> list[Any]:
        """Run a statement, and commit it."""
        with closing(self.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(text)
            found = list(cursor.fetchall()) if cursor.description else []
            connection.commit()
            return found

    @property
    def orders(self) -> list[int]:
        """What the user's own table holds."""
        return sorted(row[0] for row in self.run("SELECT number FROM orders"))


def on_sqlite(folder: Path) -> Place:
    """Return a new file."""
    path = folder / f"shop_{next(NUMBERS)}.db"

    def connect(**options: Any) -> sqlite3.Connection:  # noqa: ANN401
        connection: sqlite3.Connection = sqlite3.connect(path, **options)
        return connection

    return Place(f"sqlite:///{path}", f"sqlite:///{path}", connect, sqlite3.Error)


def on_postgresql(conninfo: str) -> Place:
    """Return a new database of a server."""
    name = f"shop_{next(NUMBERS)}"
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    folder = dict(part.split("=") for part in conninfo.split())["host"]
    address = f"postgres@/{name}?host={folder}"

    def connect(**options: Any) -> psycopg.Connection[Any]:  # noqa: ANN401
        return psycopg.connect(f"postgresql://{address}", **options)

    return Place(
        f"postgresql://{address}&any_flush=1",
        f"postgresql+psycopg://{address}",
        connect,
        psycopg.Error,
    )


def on_mariadb(socket: str) -> Place:
    """Return a new database of a server."""
    url = new_database(socket)

    def connect(**options: Any) -> Any:  # noqa: ANN401 - the driver has no types
        return pymysql.connect(**read_address(url)[1], **options)

    path = urlsplit(url).path
    return Place(
        url, f"mysql+pymysql://root@localhost{path}?unix_socket={socket}", connect, pymysql.Error
    )


class Heard(MemoryBroker):
    """A broker that remembers how much it was told."""

    told = 0
    is_broken = False

    def put(self, messages: Any) -> Any:  # noqa: ANN401 - handed on
        if self.is_broken:
            raise OSError
        self.told += len(messages)
        return super().put(messages)


@dataclass(frozen=True)
class Shop:
    """An application, its job, and the place of its store."""

    app: Sempre
    ship: Job[[int], None]
    place: Place
    broker: Heard

    def state(self, receipt: Receipt[Any]) -> State | None:
        """Return the state of what was enqueued; pending, if the bell was not rung for it."""
        found = self.app.engine.store.candidates([receipt.id]).value
        return found[0].execution.state if found else None


@contextmanager
def opened(place: Place) -> Iterator[Shop]:
    """Open an application in a place, with an empty table of the user's own."""
    place.run("CREATE TABLE orders (number INTEGER)")
    broker = Heard()
    app = Sempre(place.store, broker=broker)

    @app.job
    def ship(number: int) -> None: ...

    _ = app.engine
    yield Shop(app, ship, place, broker)
    app.close()
