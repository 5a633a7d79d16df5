"""Builders of the transactional contracts: a database, its callers, and a table of callers."""

# ruff: noqa: S608 - the statements are fixed

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from sempre.ports.messages import Enqueued, UniqueKey
from sempre.ports.store import Store
from sempre.ports.transactional import Transactional
from sempre.testing.contracts.store.builders import work_of

__all__ = ["Database", "TransactionalStore", "execute", "made", "notes", "put", "write"]


class TransactionalStore(Store, Transactional, Protocol):
    """A store that can join the transactions of others."""


@dataclass(frozen=True)
class Database:
    """A database with a store in it.

    Attributes:
        store: the store, which is empty.
        connect: opens a connection like a caller's: with the driver's defaults, so that
            its first statement begins a transaction.
        elsewhere: opens a connection to another database without a store.
        driver_error: the exception of the driver when the database refuses.
    """

    store: TransactionalStore
    connect: Callable[[], Any]
    elsewhere: Callable[[], Any]
    driver_error: type[Exception]

    @contextmanager
    def caller(self) -> Iterator[Any]:
        """Lend a connection and roll back uncommitted changes at the end."""
        with closing(self.connect()) as connection:
            yield connection


def made(database: Database) -> TransactionalStore:
    """Make the table of the callers' own, and return the store."""
    with database.caller() as connection:
        execute(connection, "CREATE TABLE notes (number INTEGER)")
        connection.commit()
    return database.store


def execute(connection: Any, text: str) -> list[Any]:  # noqa: ANN401 - of any driver
    """Run a statement of a caller's own."""
    cursor = connection.cursor()
    cursor.execute(text)
    found = list(cursor.fetchall()) if cursor.description else []
    cursor.close()
    return found


def write(connection: Any, number: int = 1) -> None:  # noqa: ANN401 - of any driver
    """Write a row of the caller's own."""
    execute(connection, f"INSERT INTO notes (number) VALUES ({number})")


def notes(database: Database) -> list[int]:
    """Return what callers have committed."""
    with database.caller() as connection:
        return sorted(row[0] for row in execute(connection, "SELECT number FROM notes"))


def put(
    store: TransactionalStore,
    connection: Any,  # noqa: ANN401 - of any driver
    *,
    unique: UniqueKey | None = None,
) -> Enqueued:
    """Put a piece of work in through a caller's transaction."""
    [receipt] = store.enqueue_within(connection, [work_of(store, unique=unique)])
    return receipt
