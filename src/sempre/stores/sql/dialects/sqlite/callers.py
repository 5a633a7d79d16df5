"""SQLite: transactions of callers and jobs on the file of the store."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from sempre.errors import NotSameDatabase, StoreLocked, StoreUnavailable
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.caller_connections import (
    JobConnection,
    check_begun,
    check_driver,
)
from sempre.stores.sql.dialects.sqlite.connection import address_of
from sempre.stores.sql.dialects.sqlite.failures import BUSY, code_of

__all__ = ["SqliteCallers"]

_SERIALIZED = 3
_Wrap = Callable[[Any], Transaction]


class SqliteCallers:
    """Transactions of callers and jobs on one file.

    Args:
        path: the file of the store.
        statements: the statements of the store, by name.
        wrap: makes a transaction from an object with `execute` and `executemany`.
        busy_after: how many seconds a job waits for another process.
    """

    write_alone = True

    def __init__(
        self, path: Path, statements: Mapping[str, str], wrap: _Wrap, *, busy_after: float
    ) -> None:
        """Open nothing yet."""
        self.place = f"the SQLite file {path}"
        self._path = path
        self._write_first = statements["write_first"]
        self._wrap = wrap
        self._busy_after = busy_after

    @contextmanager
    def join(self, connection: object) -> Iterator[Transaction]:
        """Use a caller's connection, which locks the file until its transaction ends."""
        remedy = "Give a sqlite3 connection to that file"
        check_driver(connection, sqlite3.Connection, self.place, remedy=remedy)
        assert isinstance(connection, sqlite3.Connection)  # noqa: S101 - for the type checker
        remedy = "Begin one: execute BEGIN IMMEDIATE, or use app.transaction(connection)"
        check_begun(self.place, is_begun=_begins(connection), remedy=remedy)
        texts, connection.text_factory = connection.text_factory, str
        try:
            plain = _TupleConnection(connection)
            self._lock_file(plain)
            yield self._wrap(plain)
        finally:
            connection.text_factory = texts

    def hides_newer_commits(self, _: Transaction) -> bool:
        """Never: no other transaction can have written since it locked the file."""
        return False

    def place_of(self, connection: object) -> str:
        """Return the file of a caller's connection."""
        assert isinstance(connection, sqlite3.Connection)  # noqa: S101 - for the type checker
        rows = _TupleConnection(connection).execute("PRAGMA database_list").fetchall()
        path = next((row[2] for row in rows if row[1] == "main"), "")
        return f"the SQLite file {path}" if path else "an SQLite database in memory"

    def begin_for_job(self) -> "_JobTransaction":
        """Begin a job's transaction on a new connection; no other transaction writes until it ends.

        Raises:
            StoreLocked: the file was locked for too long; a later try may succeed.
        """
        try:
            return _JobTransaction(self._path, self._wrap, self._busy_after)
        except sqlite3.Error as error:
            if code_of(error) in BUSY:
                seconds = f"{self._busy_after:g} s"
                raise StoreLocked(f"{self._path} was locked by others for {seconds}.") from error
            raise StoreUnavailable(f"{self.place} gave a job no transaction: {error}.") from error

    def connect(self) -> object:
        """Return a new connection that commits each statement."""
        try:
            return sqlite3.connect(
                address_of(self._path), uri=True, timeout=self._busy_after, isolation_level=None
            )
        except sqlite3.Error as error:
            raise StoreUnavailable(f"{self.place} gave no connection: {error}.") from error

    def _lock_file(self, plain: "_TupleConnection") -> None:
        try:
            plain.execute(self._write_first)
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            found = self.place_of(plain.connection)
            raise NotSameDatabase(store=self.place, found=found) from None


class _TupleConnection:
    """A connection whose rows are tuples, whatever row factory its owner has set."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, text: str, parameters: Any = ()) -> sqlite3.Cursor:  # noqa: ANN401
        """Run a statement."""
        # Not by cursor(), which would pass on the row factory of the connection.
        return sqlite3.Cursor(self.connection).execute(text, parameters)

    def executemany(self, text: str, parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401
        """Run a statement for each of many rows."""
        return sqlite3.Cursor(self.connection).executemany(text, parameters)


class _JobConnection(JobConnection, sqlite3.Connection):
    also = ", nor executescript() or `with connection:`, which commit"

    def executescript(self, _script: str) -> NoReturn:
        """Refuse, as it would commit first."""
        self._refuse()

    def __enter__(self) -> NoReturn:
        """Refuse, as the end of the block would commit."""
        self._refuse()


class _JobTransaction:
    """The transaction of a job."""

    def __init__(self, path: Path, wrap: _Wrap, busy_after: float) -> None:
        self.connection = sqlite3.connect(
            address_of(path),
            uri=True,
            timeout=busy_after,
            isolation_level=None,
            check_same_thread=False,
            factory=_JobConnection,
        )
        try:
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            self.connection.close()
            raise
        self.transaction = wrap(_TupleConnection(self.connection))

    @property
    def is_open(self) -> bool:
        """Whether SQL has not ended the transaction."""
        with suppress(sqlite3.ProgrammingError):  # closed
            return self.connection.in_transaction
        return False

    def commit(self) -> None:
        """Commit the transaction to disk."""
        self.connection.text_factory = str
        self.connection.execute("COMMIT")

    def release(self) -> None:
        """Unlock the file, once the job can write no more: its writes would not be rolled back."""
        if sqlite3.threadsafety < _SERIALIZED:
            return  # the job may be using the connection right now
        with suppress(sqlite3.Error):
            self.connection.interrupt()
            self.connection.execute("PRAGMA query_only = ON")
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        with suppress(sqlite3.Error):
            self.connection.close()


def _begins(connection: sqlite3.Connection) -> bool:
    """Whether a connection is in a transaction, or will be with its first write."""
    if connection.in_transaction:
        return True
    # Since Python 3.12 a connection may commit each statement whatever its isolation level is.
    return (
        connection.isolation_level is not None and getattr(connection, "autocommit", -1) is not True
    )
