"""Transactions of the caller: work that is put in with the caller's own rows, or not at all.

The row is written through the caller's connection. The broker is told of it after the commit:
SQLAlchemy and Django say when that is, and so does `app.transaction` of a raw connection. Where
nothing says so PostgreSQL itself wakes idle workers at the commit, if it is the broker; elsewhere
the row waits, and is found by the sweep. To be told of a row that was rolled back
after all is harmless: nobody finds it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import get_ident
from typing import NamedTuple, cast

from sempre.app.committing import committed
from sempre.app.foreign import CallerTransaction, foreign_transaction, is_django, rung
from sempre.errors import NotInJob, TransactionError
from sempre.executors.current import Current, current
from sempre.executors.effects import RunEffects
from sempre.ports.store import Store
from sempre.ports.transactional import Effects, Transactional

__all__ = ["CallerTransaction", "caller_transaction", "effects", "transaction", "transactional"]


def caller_transaction(app: object, tx: object | None) -> CallerTransaction | None:
    """Return the transaction that an enqueue joins; None if it has to begin its own.

    Args:
        app: whose enqueue it is.
        tx: what the user gave: a SQLAlchemy Session or Connection, a psycopg, sqlite3 or PyMySQL
            connection, a connection of Django or its alias. Without it, the connection of the
            innermost `with app.transaction(...)` of this app, thread and task is joined.

    Raises:
        TransactionError: it is something else, or nobody has begun a transaction.
    """
    within = _innermost(app)
    if tx is None or (within is not None and within.is_of(tx)):
        return within
    run = _run()
    if run is not None and run.effects.is_of(tx):
        return _OfRun(tx, run.effects)
    return foreign_transaction(tx)


def transactional(store: Store) -> Transactional:
    """Return a store as one that can join a transaction.

    Raises:
        TransactionError: it cannot.
    """
    if not store.capabilities.transactional:
        raise TransactionError(
            "this store is no SQL database, so nothing can commit together with it; enqueue "
            "without tx= after your own commit, or keep the store in your own database."
        )
    return cast("Transactional", store)


def effects(store: Store, execution_id: str, fence: int) -> Effects:
    """Begin the transaction of a run.

    Raises:
        TransactionError: the store is no SQL database.
    """
    if not store.capabilities.transactional:
        raise TransactionError(
            "current().tx needs the store in an SQL database, beside the tables that the job "
            "writes to. For effects elsewhere use current().key, which is the same in every "
            "attempt, or current().fence, which is higher in every later one."
        )
    return cast("Transactional", store).effects(execution_id, fence)


@contextmanager
def transaction(app: object, connection: object) -> Iterator[None]:
    """Commit at the end of the block, or roll back if it raises; then ring for what was put in.

    Every enqueue of the app in the block, in this thread and task, joins the transaction. What the
    connection had begun before is committed with it.

    Raises:
        TransactionError: no such connection is known, it is Django's (which has `atomic()`), the
            block is within another one of the same connection, or the database has given the
            transaction up.
    """
    if is_django(connection):
        raise TransactionError("Django has its own: use transaction.atomic(); it rings by itself.")
    raw = foreign_transaction(connection).connection
    if any(each.connection is raw and not each.is_over for each in _OPEN.get()):
        raise TransactionError("this connection is within a block of app.transaction already.")
    opened = _Open(app, connection, raw)
    token = _OPEN.set((*_OPEN.get(), opened))
    try:
        with committed(connection, raw):
            yield
    finally:
        opened.is_over = True
        _OPEN.reset(token)
    opened.ring_all()


class _OfRun(NamedTuple):
    """The transaction of the run that the enqueue is part of: `tx=current().tx`."""

    connection: object
    effects: RunEffects
    is_silent: bool = False

    def after_commit(self, ring: Callable[[], None]) -> None:
        """Ring when the run has ended well."""
        self.effects.after_commit(lambda: rung(ring))


def _run() -> Current | None:
    try:
        return current()
    except NotInJob:
        return None


class _Open:
    """A block of `app.transaction`, and what rings at its end."""

    is_silent = False

    def __init__(self, app: object, given: object, connection: object) -> None:
        self.app = app
        self.given = given
        self.connection = connection
        self.is_over = False
        self._place = _place()
        self._rings: list[Callable[[], None]] = []

    def is_here(self, app: object) -> bool:
        """Tell whether this is where an enqueue of the app belongs.

        A task or thread that was begun in the block has its context, but not its connection.
        """
        return self.app is app and not self.is_over and self._place == _place()

    def is_of(self, tx: object) -> bool:
        """Tell whether this is the block of what a user gave."""
        return tx is self.given or tx is self.connection

    def after_commit(self, ring: Callable[[], None]) -> None:
        """Ring at the end of the block."""
        self._rings.append(ring)

    def ring_all(self) -> None:
        """Ring for everything; the block has committed."""
        for ring in self._rings:
            rung(ring)


_OPEN: ContextVar[tuple[_Open, ...]] = ContextVar("sempre_transactions", default=())


def _innermost(app: object) -> _Open | None:
    here = (each for each in reversed(_OPEN.get()) if each.is_here(app))
    return next(here, None)


def _place() -> tuple[int, object]:
    """Return which thread and which task of an event loop this is."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:  # noqa: SLF001
        return get_ident(), None
    return get_ident(), asyncio.current_task()
