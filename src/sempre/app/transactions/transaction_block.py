"""The block of `app.transaction`: commits the caller's connection at its end, and then rings."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import get_ident
from typing import Any

from sempre.app.transactions.caller_connections import (
    is_a,
    is_django,
    ring_or_log,
    transaction_of,
)
from sempre.errors import TransactionError

__all__ = ["TransactionBlock", "innermost_block", "transaction"]

_PSYCOPG = ("psycopg", "Connection")
_MARIADB_IN_TRANSACTION = 1  # SERVER_STATUS_IN_TRANS


@contextmanager
def transaction(app: object, connection: object) -> Iterator[None]:
    """Commit at the end of the block, or roll back if it raises; then ring for what was enqueued.

    Every enqueue of the app in the block, in this thread and task, joins the transaction. What the
    connection had begun before is committed with it.

    Raises:
        TransactionError: the connection is of an unknown kind, is Django's (which has `atomic()`),
            is in another block already, or the database has given its transaction up.
    """
    if is_django(connection):
        raise TransactionError("Django has its own: use transaction.atomic(); it rings by itself.")
    raw = transaction_of(connection).connection
    if any(each.connection is raw and not each.is_over for each in _OPEN.get()):
        raise TransactionError("this connection is within a block of app.transaction already.")
    block = TransactionBlock(app, connection, raw)
    token = _OPEN.set((*_OPEN.get(), block))
    try:
        with _committed(connection, raw):
            yield
    finally:
        block.is_over = True
        _OPEN.reset(token)
    block.ring_all()


class TransactionBlock:
    """An open block of `app.transaction`, with the rings for its end."""

    is_silent = False

    def __init__(self, app: object, given: object, connection: object) -> None:
        """Open a block in this thread and task."""
        self.app = app
        self.given = given
        self.connection = connection
        self.is_over = False
        self._place = _place()
        self._rings: list[Callable[[], None]] = []

    def is_here(self, app: object) -> bool:
        """Return whether an enqueue of the app, in this thread and task, joins the block.

        A task or thread that was begun in the block inherits its context, but not its connection.
        """
        return self.app is app and not self.is_over and self._place == _place()

    def is_of(self, tx: object) -> bool:
        """Return whether `tx` is the connection of the block, as given or as the driver's."""
        return tx is self.given or tx is self.connection

    def after_commit(self, ring: Callable[[], None]) -> None:
        """Ring at the end of the block."""
        self._rings.append(ring)

    def ring_all(self) -> None:
        """Ring for every enqueue of the block, which has committed."""
        for ring in self._rings:
            ring_or_log(ring)


_OPEN: ContextVar[tuple[TransactionBlock, ...]] = ContextVar("sempre_transactions", default=())


def innermost_block(app: object) -> TransactionBlock | None:
    """Return the block that an enqueue of the app joins here; None outside of any."""
    here = (each for each in reversed(_OPEN.get()) if each.is_here(app))
    return next(here, None)


def _place() -> tuple[int, object]:
    """Return this thread, and this task of an event loop."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:  # noqa: SLF001
        return get_ident(), None
    return get_ident(), asyncio.current_task()


# Drivers


@contextmanager
def _committed(connection: Any, driver: Any) -> Iterator[None]:  # noqa: ANN401 - not imported
    """Begin unless a transaction is open, and commit, or roll back if the block raises.

    Args:
        connection: whose commit counts, such as SQLAlchemy's.
        driver: the connection of the driver below, or the same one.

    Raises:
        TransactionError: a statement failed, and the block swallowed the error.
    """
    if is_a(connection, *_PSYCOPG) and _status(connection) == "IDLE":
        # Works with autocommit too, and makes a commit() within the block an error.
        with connection.transaction():
            yield
            _check_sound(driver)
        return
    _begin(connection)
    try:
        yield
        _check_sound(driver)
    except BaseException:
        # The error of the block is raised; without a commit the database keeps nothing.
        with suppress(Exception):
            _end(connection, "ROLLBACK")
        raise
    _end(connection, "COMMIT")


def _check_sound(driver: Any) -> None:  # noqa: ANN401
    """Refuse a commit that PostgreSQL would turn into a rollback without an error."""
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
