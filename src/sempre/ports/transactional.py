"""The port of a transactional store: its tables share a database with the tables of the user.

The capabilities of a store say whether it is transactional.
"""

from collections.abc import Collection
from typing import Protocol

from sempre.domain.arguments import Json
from sempre.ports.messages import Enqueued, Work

__all__ = ["Effects", "Transactional"]


class Effects(Protocol):
    """A transaction in the store's database, for the writes of a job and the end of its run.

    The transaction has a connection of its own. It blocks only writers of rows that it has written;
    in SQLite, every writer.
    """

    @property
    def connection(self) -> object:
        """The driver's own connection, in a transaction that the job must not end."""
        ...

    def keep(self, result: Json) -> None:
        """Record that the run succeeded, commit that with the writes of the job, and close.

        A later `settle` of this claim finds it done, whatever it records.

        Raises:
            TransactionError: the run has lost its claim, or the job ended the transaction or
                broke it; no write that was still in the transaction is kept. Or the commit was
                not answered: a later `settle` finds out whether it was kept.
        """
        ...

    def drop(self) -> None:
        """Roll back, and close. Never raises, and may be repeated."""
        ...

    def release(self) -> None:
        """Let nothing be kept from here on, though the job may still use the connection.

        Callable from any thread; never raises. SQLite, where one transaction blocks every writer,
        is free again; elsewhere the job may keep locks until it returns.
        """
        ...


class Transactional(Protocol):
    """What a store promises besides, if its capabilities say that it is transactional."""

    def enqueue_within(self, connection: object, works: Collection[Work]) -> list[Enqueued]:
        """Enqueue one-off work in a transaction that the caller has begun and will end.

        As `enqueue`: the work exists once the caller has committed, and never if not. An enqueue of
        an equal unique key waits until then, or gets an error of the database; so may this call. A
        switch that is turned off while the transaction is open stops the start, not the enqueue.

        Raises:
            TransactionError: the connection is of another driver, or in no transaction.
            NotSameDatabase: the connection leads to another database. Nothing was written.
            Exception: any error of the driver, as it is: the transaction is the caller's.
        """
        ...

    def effects(self, execution_id: str, fence: int) -> Effects:
        """Begin the transaction of a run, which a claim with this fence has started.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        ...

    def connect(self) -> object:
        """Return a fresh connection of the driver to the store's database, for the user's tables.

        The connection commits each statement; the caller closes it.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        ...
