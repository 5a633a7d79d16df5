"""PostgreSQL: transactions of callers and jobs in the database of the store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from sempre.errors import StoreUnavailable
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.caller_connections import (
    check_begun,
    check_driver,
    check_encoding,
)
from sempre.stores.sql.dialects.postgresql.address import ENCODING

__all__ = ["PostgresqlCallers"]

_Wrap = Callable[[Any], Transaction]


class PostgresqlCallers:
    """Transactions of callers and jobs in one database.

    Args:
        place: the address of the database, without its password.
        conninfo: the address as the driver reads it.
        wrap: makes a transaction from an object with `execute` and `cursor`.
        connect_after: how many seconds the opening of a job's connection may take.
    """

    write_alone = False

    def __init__(self, place: str, conninfo: str, wrap: _Wrap, *, connect_after: float) -> None:
        """Open nothing yet."""
        self.place = place
        self._conninfo = conninfo
        self._wrap = wrap
        self._connect_after = connect_after

    @contextmanager
    def join(self, connection: object) -> Iterator[Transaction]:
        """Use a caller's connection."""
        remedy = "Use psycopg 3 (with SQLAlchemy: postgresql+psycopg://) for that database"
        check_driver(connection, psycopg.Connection, self.place, remedy=remedy)
        assert isinstance(connection, psycopg.Connection)  # noqa: S101 - for the type checker
        is_begun = not connection.autocommit or _status(connection) is not TransactionStatus.IDLE
        remedy = "Begin one: `with connection.transaction():`, or use app.transaction(connection)"
        check_begun(self.place, is_begun=is_begun, remedy=remedy)
        encoding = connection.info.encoding
        remedy = "SET client_encoding TO 'UTF8' on it first"
        check_encoding(encoding, is_utf8=encoding == "utf-8", remedy=remedy)
        yield self._wrap(_TupleConnection(connection))

    def hides_newer_commits(self, transaction: Transaction) -> bool:
        """Not in READ COMMITTED, which is the default."""
        [[level]] = transaction.rows("isolation")
        return bool(level != "read committed")

    def place_of(self, connection: object) -> str:
        """Return the address of a caller's connection, without its password."""
        assert isinstance(connection, psycopg.Connection)  # noqa: S101 - for the type checker
        info = connection.info
        return f"PostgreSQL at {info.host}:{info.port}/{info.dbname}"

    def begin_for_job(self) -> "_JobTransaction":
        """Begin a job's transaction on a new connection."""
        try:
            return _JobTransaction(self._conninfo, self._wrap, max(2, int(self._connect_after)))
        except psycopg.Error as error:
            raise StoreUnavailable(f"{self.place} gave a job no transaction: {error}.") from error

    def connect(self) -> object:
        """Return a new connection that commits each statement."""
        try:
            seconds = max(2, int(self._connect_after))
            return psycopg.connect(
                self._conninfo,
                autocommit=True,
                client_encoding=ENCODING,
                connect_timeout=seconds,
            )
        except psycopg.Error as error:
            raise StoreUnavailable(f"{self.place} gave no connection: {error}.") from error


class _TupleConnection:
    """A connection whose rows are tuples, whatever row factory its owner has set."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, text: Any, parameters: Any = None) -> psycopg.Cursor[Any]:  # noqa: ANN401
        """Run a statement."""
        return self.cursor().execute(text, parameters)

    def cursor(self) -> psycopg.Cursor[Any]:
        """Return a cursor of the driver's own kind."""
        return psycopg.Cursor(self._connection, row_factory=tuple_row)


class _JobTransaction:
    """The transaction of a job. Within a block of the driver commit() is an error."""

    def __init__(self, conninfo: str, wrap: _Wrap, connect_timeout: int) -> None:
        self.connection: psycopg.Connection[Any] = psycopg.connect(
            # Otherwise the driver would begin a second transaction, if SQL has ended the first.
            conninfo,
            autocommit=True,
            client_encoding=ENCODING,
            prepare_threshold=None,
            connect_timeout=connect_timeout,
        )
        try:
            self.connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            self.connection.read_only = False
            self._block = self.connection.transaction()
            self._block.__enter__()
            self.connection.execute("SET LOCAL synchronous_commit = on")
        except BaseException:
            self.connection.close()
            raise
        self.transaction = wrap(_TupleConnection(self.connection))

    @property
    def is_open(self) -> bool:
        """Whether SQL has not ended the transaction."""
        ended = {TransactionStatus.IDLE, TransactionStatus.UNKNOWN}
        return not self.connection.closed and _status(self.connection) not in ended

    def commit(self) -> None:
        """Commit the transaction to disk."""
        self._block.__exit__(None, None, None)

    def release(self) -> None:
        """Do nothing: only transactions that want the same rows wait."""

    def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            self.connection.close()


def _status(connection: psycopg.Connection[Any]) -> TransactionStatus:
    return connection.info.transaction_status
