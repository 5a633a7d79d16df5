"""MariaDB: transactions of others in the database of the store."""

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
from sempre.stores.sql.dialects.mariadb.pool import FOR_ONE, OF_OURS, pymysql

__all__ = ["MariadbCallers"]

_Wrap = Callable[[Any], Transaction]
_CHARSET = "utf8mb4"
_IN_TRANSACTION = pymysql.constants.SERVER_STATUS.SERVER_STATUS_IN_TRANS


class MariadbCallers:
    """Transactions of others in one database.

    Args:
        place: where it is, without its password.
        address: how the driver reaches it.
        wrap: makes a transaction of what has `cursor`.
        connect_after: after how many seconds a connection for a job is given up.
    """

    are_alone = False

    def __init__(
        self, place: str, address: Mapping[str, Any], wrap: _Wrap, *, connect_after: float
    ) -> None:
        """Open nothing yet."""
        self.place = place
        self._driver = {
            **address,
            "charset": _CHARSET,
            "connect_timeout": connect_after,
            "init_command": OF_OURS,
        }
        self._wrap = wrap

    @contextmanager
    def joined(self, connection: object) -> Iterator[Transaction]:
        """Use a caller's connection."""
        remedy = "Use PyMySQL (with SQLAlchemy: mysql+pymysql://) for that database"
        check_driver(connection, pymysql.connections.Connection, self.place, remedy=remedy)
        is_begun = not connection.get_autocommit() or _is_in_transaction(connection)  # type: ignore[attr-defined]
        remedy = "Begin one: connection.begin(), or use app.transaction(connection)"
        check_begun(self.place, is_begun=is_begun, remedy=remedy)
        charset = connection.charset  # type: ignore[attr-defined]
        remedy = f'connect with charset="{_CHARSET}"'
        check_encoding(charset, is_utf8=charset == _CHARSET, remedy=remedy)
        yield self._wrap(_Plain(connection))

    def may_read_the_past(self, _: Transaction) -> bool:
        """It does by default, and there is no asking what a single transaction was set to."""
        return True

    def place_of(self, connection: object) -> str:
        """Return which database a caller's connection leads to."""
        [[database]] = _Plain(connection).rows("SELECT DATABASE()")
        info = vars(connection)
        where = info.get("unix_socket") or f"{info.get('host')}:{info.get('port')}"
        return f"MariaDB at {where}/{database or ''}"

    def apart(self) -> "_Apart":
        """Begin a transaction on a fresh connection."""
        try:
            return _Apart(_JobConnection(**self._driver, autocommit=True), self._wrap)
        except pymysql.Error as error:
            raise StoreUnavailable(f"{self.place} gave a job no transaction: {error}.") from error

    def connect(self) -> object:
        """Return a fresh connection that commits each statement."""
        try:
            return pymysql.connect(**self._driver, autocommit=True)
        except pymysql.Error as error:
            raise StoreUnavailable(f"{self.place} gave no connection: {error}.") from error


class _Plain:
    """A connection whose rows are tuples, whatever its owner has set."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the driver has no types
        self._connection = connection
        self.escape = connection.escape

    def cursor(self) -> Any:  # noqa: ANN401
        """Return a cursor to which the settings of the connection's owner mean nothing."""
        return self._connection.cursor(_Unbound)

    def rows(self, text: str) -> list[Any]:
        """Run a statement and return its rows."""
        with self.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())


class _Unbound(pymysql.cursors.Cursor):  # type: ignore[misc]  # the driver has no types
    """A cursor of the driver's own kind, for statements of the store on any connection."""

    def execute(self, query: Any, args: Any = None) -> Any:  # noqa: ANN401
        """Run a statement as on a connection of ours; the driver's own inserts come as bytes."""
        text = f"{FOR_ONE}{query}" if isinstance(query, str) else query
        return super().execute(text, args)


class _JobConnection(JobConnection, pymysql.connections.Connection):  # type: ignore[misc]
    def begin(self) -> NoReturn:
        """Refuse, as it would commit first."""
        self._refuse()


class _Apart:
    """The transaction of a job.

    The connection commits each statement that is in no transaction: so it is not in a second one
    if SQL, which may be CREATE TABLE, has ended the first.
    """

    def __init__(self, connection: Any, wrap: _Wrap) -> None:  # noqa: ANN401
        self.connection = connection
        try:
            connection.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            connection.query("START TRANSACTION READ WRITE")
        except BaseException:
            self.close()
            raise
        self.transaction = wrap(_Plain(connection))

    @property
    def is_open(self) -> bool:
        """Whether it was not ended by SQL."""
        return bool(self.connection.open) and _is_in_transaction(self.connection)

    def commit(self) -> None:
        """Commit it to disk."""
        self.connection.query("COMMIT")

    def release(self) -> None:
        """Do nothing: only those wait who want the same rows."""

    def close(self) -> None:
        """Close the connection."""
        if self.connection.open:
            with suppress(pymysql.Error):
                self.connection.close()


def _is_in_transaction(connection: Any) -> bool:  # noqa: ANN401
    return bool(connection.server_status & _IN_TRANSACTION)
