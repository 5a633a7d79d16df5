"""MariaDB: transactions of callers and jobs in the database of the store."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from sempre.errors import StoreUnavailable
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.caller_connections import (
    JobConnection,
    check_begun,
    check_driver,
    check_encoding,
)
from sempre.stores.sql.dialects.mariadb.pool import SESSION_SETTINGS, STATEMENT_SETTINGS, pymysql

__all__ = ["MariadbCallers"]

_Wrap = Callable[[Any], Transaction]
_CHARSET = "utf8mb4"
_IN_TRANSACTION = pymysql.constants.SERVER_STATUS.SERVER_STATUS_IN_TRANS


class MariadbCallers:
    """Transactions of callers and jobs in one database.

    Args:
        place: the address of the database, without its password.
        address: the options with which the driver connects.
        wrap: makes a transaction from an object with `cursor`.
        connect_after: how many seconds the opening of a job's connection may take.
    """

    write_alone = False

    def __init__(
        self, place: str, address: Mapping[str, Any], wrap: _Wrap, *, connect_after: float
    ) -> None:
        """Open nothing yet."""
        self.place = place
        self._driver = {
            **address,
            "charset": _CHARSET,
            "connect_timeout": connect_after,
            "init_command": SESSION_SETTINGS,
        }
        self._wrap = wrap

    @contextmanager
    def join(self, connection: object) -> Iterator[Transaction]:
        """Use a caller's connection."""
        remedy = "Use PyMySQL (with SQLAlchemy: mysql+pymysql://) for that database"
        check_driver(connection, pymysql.connections.Connection, self.place, remedy=remedy)
        is_begun = not connection.get_autocommit() or _is_in_transaction(connection)  # type: ignore[attr-defined]
        remedy = "Begin one: connection.begin(), or use app.transaction(connection)"
        check_begun(self.place, is_begun=is_begun, remedy=remedy)
        charset = connection.charset  # type: ignore[attr-defined]
        remedy = f'connect with charset="{_CHARSET}"'
        check_encoding(charset, is_utf8=charset == _CHARSET, remedy=remedy)
        yield self._wrap(_TupleConnection(connection))

    def hides_newer_commits(self, _: Transaction) -> bool:
        """By default it does, and the isolation of a single transaction cannot be queried."""
        return True

    def place_of(self, connection: object) -> str:
        """Return the address of a caller's connection, without its password."""
        [[database]] = _TupleConnection(connection).rows("SELECT DATABASE()")
        info = vars(connection)
        where = info.get("unix_socket") or f"{info.get('host')}:{info.get('port')}"
        return f"MariaDB at {where}/{database or ''}"

    def begin_for_job(self) -> "_JobTransaction":
        """Begin a job's transaction on a new connection."""
        try:
            return _JobTransaction(_JobConnection(**self._driver, autocommit=True), self._wrap)
        except pymysql.Error as error:
            raise StoreUnavailable(f"{self.place} gave a job no transaction: {error}.") from error

    def connect(self) -> object:
        """Return a new connection that commits each statement."""
        try:
            return pymysql.connect(**self._driver, autocommit=True)
        except pymysql.Error as error:
            raise StoreUnavailable(f"{self.place} gave no connection: {error}.") from error


class _TupleConnection:
    """A connection whose rows are tuples, whatever cursor class its owner has set."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the driver has no types
        self._connection = connection
        self.escape = connection.escape

    def cursor(self) -> Any:  # noqa: ANN401
        """Return a cursor that the settings of the connection's owner do not limit."""
        return self._connection.cursor(_UnlimitedCursor)

    def rows(self, text: str) -> list[Any]:
        """Run a statement and return its rows."""
        with self.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())


class _UnlimitedCursor(pymysql.cursors.Cursor):  # type: ignore[misc]  # the driver has no types
    """A cursor of the driver's own kind, for statements of the store on any connection."""

    def execute(self, query: Any, args: Any = None) -> Any:  # noqa: ANN401
        """Run a statement as on a connection of the store; the driver's bulk inserts are bytes."""
        text = f"{STATEMENT_SETTINGS}{query}" if isinstance(query, str) else query
        return super().execute(text, args)


class _JobConnection(JobConnection, pymysql.connections.Connection):  # type: ignore[misc]
    def begin(self) -> NoReturn:
        """Refuse, as it would commit first."""
        self._refuse()


class _JobTransaction:
    """The transaction of a job.

    The connection is in autocommit mode: so it is not in a second transaction if SQL of the job,
    such as CREATE TABLE, has ended the first.
    """

    def __init__(self, connection: Any, wrap: _Wrap) -> None:  # noqa: ANN401
        self.connection = connection
        try:
            connection.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            connection.query("START TRANSACTION READ WRITE")
        except BaseException:
            self.close()
            raise
        self.transaction = wrap(_TupleConnection(connection))

    @property
    def is_open(self) -> bool:
        """Whether SQL has not ended the transaction."""
        return bool(self.connection.open) and _is_in_transaction(self.connection)

    def commit(self) -> None:
        """Commit the transaction to disk."""
        self.connection.query("COMMIT")

    def release(self) -> None:
        """Do nothing: only transactions that want the same rows wait."""

    def close(self) -> None:
        """Close the connection."""
        if self.connection.open:
            with suppress(pymysql.Error):
                self.connection.close()


def _is_in_transaction(connection: Any) -> bool:  # noqa: ANN401
    return bool(connection.server_status & _IN_TRANSACTION)
