"""How the transaction of a connection is begun and ended for a block of code, driver by driver."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sempre.app.foreign import is_a

__all__ = ["committed"]

_MARIADB_IN_TRANSACTION = 1  # SERVER_STATUS_IN_TRANS


@contextmanager
def committed(connection: Any) -> Iterator[None]:  # noqa: ANN401 - of drivers not imported
    """Commit at the end, or roll back if the block raises; begin, if nothing has begun."""
    if is_a(connection, "psycopg", "Connection") and _is_idle(connection):
        # Also of a connection that commits every statement; and commit() within is an error.
        with connection.transaction():
            yield
        return
    _begin(connection)
    try:
        yield
    except BaseException:
        # What the block raised is what matters; without a commit nothing is kept.
        with suppress(Exception):
            _end(connection, "ROLLBACK")
        raise
    _end(connection, "COMMIT")


def _is_idle(connection: Any) -> bool:  # noqa: ANN401
    return bool(connection.info.transaction_status.name == "IDLE")


def _begin(connection: Any) -> None:  # noqa: ANN401
    if is_a(connection, "sqlite3", "Connection"):
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        return
    is_mariadb = is_a(connection, "pymysql.connections", "Connection")
    # A second BEGIN would commit what was begun.
    if is_mariadb and not connection.server_status & _MARIADB_IN_TRANSACTION:
        connection.begin()


def _end(connection: Any, how: str) -> None:  # noqa: ANN401
    if (
        is_a(connection, "sqlite3", "Connection")
        and getattr(connection, "autocommit", None) is True
    ):
        # Then commit() does nothing.
        connection.execute(how)
    elif how == "COMMIT":
        connection.commit()
    else:
        connection.rollback()
