"""How the transaction of a connection is begun and ended for a block of code, driver by driver."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sempre.app.foreign import is_a
from sempre.errors import TransactionError

__all__ = ["committed"]

_PSYCOPG = ("psycopg", "Connection")
_MARIADB_IN_TRANSACTION = 1  # SERVER_STATUS_IN_TRANS


@contextmanager
def committed(connection: Any, driver: Any) -> Iterator[None]:  # noqa: ANN401 - not imported
    """Commit at the end, or roll back if the block raises; begin, if nothing has begun.

    Args:
        connection: whose commit counts.
        driver: the connection of the driver below it, or the same.

    Raises:
        TransactionError: nothing is left to be committed, though nothing was raised.
    """
    if is_a(connection, *_PSYCOPG) and _status(connection) == "IDLE":
        # Also of a connection that commits every statement; and commit() within is an error.
        with connection.transaction():
            yield
            _check_sound(driver)
        return
    _begin(connection)
    try:
        yield
        _check_sound(driver)
    except BaseException:
        # What the block raised is what matters; without a commit nothing is kept.
        with suppress(Exception):
            _end(connection, "ROLLBACK")
        raise
    _end(connection, "COMMIT")


def _check_sound(driver: Any) -> None:  # noqa: ANN401
    """Refuse what PostgreSQL would answer with a rollback that looks like a commit."""
    if is_a(driver, *_PSYCOPG) and _status(driver) == "INERROR":
        raise TransactionError(
            "a statement of the block has failed, after which PostgreSQL keeps nothing of its "
            "transaction; let the error through, or put what may fail into a savepoint."
        )


def _status(connection: Any) -> str:  # noqa: ANN401
    return str(connection.info.transaction_status.name)


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
