"""Join: which transaction of the caller an enqueue takes part in, and whether the store can."""

from collections.abc import Callable
from typing import NamedTuple, cast

from sempre.app.transactions.caller_connections import (
    CallerTransaction,
    ring_or_log,
    transaction_of,
)
from sempre.app.transactions.transaction_block import innermost_block
from sempre.errors import NotInJob, TransactionError
from sempre.executors.current import Current, current
from sempre.executors.effects import RunEffects
from sempre.ports.store import Store
from sempre.ports.transactional import Effects, Transactional

__all__ = ["begin_effects", "joined_transaction", "transactional"]


def joined_transaction(app: object, tx: object | None) -> CallerTransaction | None:
    """Return the transaction that an enqueue joins; None if the enqueue begins its own.

    Args:
        app: whose enqueue it is.
        tx: what the user gave: a SQLAlchemy Session or Connection, a psycopg, sqlite3 or PyMySQL
            connection, a connection of Django or its alias. Without `tx`, the enqueue joins the
            innermost `with app.transaction(...)` of this app, thread and task.

    Raises:
        TransactionError: `tx` is something else, or is in no transaction.
    """
    block = innermost_block(app)
    if tx is None or (block is not None and block.is_of(tx)):
        return block
    run = _current_run()
    if run is not None and run.effects.is_of(tx):
        return _OfRun(tx, run.effects)
    return transaction_of(tx)


def transactional(store: Store) -> Transactional:
    """Return a store as one that can join a transaction.

    Raises:
        TransactionError: the store is not an SQL database.
    """
    if not store.capabilities.transactional:
        raise TransactionError(
            "this store is no SQL database, so nothing can commit together with it; enqueue "
            "without tx= after your own commit, or keep the store in your own database."
        )
    return cast("Transactional", store)


def begin_effects(store: Store, execution_id: str, fence: int) -> Effects:
    """Begin the transaction of a run.

    Raises:
        TransactionError: the store is not an SQL database.
    """
    if not store.capabilities.transactional:
        raise TransactionError(
            "current().tx needs the store in an SQL database, beside the tables that the job "
            "writes to. For effects elsewhere use current().key, which is the same in every "
            "attempt, or current().fence, which is higher in every later one."
        )
    return cast("Transactional", store).effects(execution_id, fence)


class _OfRun(NamedTuple):
    """The transaction of the run that enqueues: `tx=current().tx`."""

    connection: object
    effects: RunEffects
    is_silent: bool = False

    def after_commit(self, ring: Callable[[], None]) -> None:
        """Ring when the run has succeeded."""
        self.effects.after_commit(lambda: ring_or_log(ring))


def _current_run() -> Current | None:
    try:
        return current()
    except NotInJob:
        return None
