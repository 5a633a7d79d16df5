"""The port of a transactional store: what it promises whose database is the user's own.

Which stores those are, their capabilities tell.
"""

from collections.abc import Collection
from typing import Protocol

from sempre.domain.arguments import Json
from sempre.ports.messages import Enqueued, Work

__all__ = ["Effects", "Transactional"]


class Effects(Protocol):
    """A transaction of the store's own database, for what a job writes and the end of its run.

    It is on a connection of its own, which holds up nobody but those who want the same rows; in
    SQLite, everybody who writes.
    """

    @property
    def connection(self) -> object:
        """The driver's own connection, in a transaction that the job must not end."""
        ...

    def keep(self, result: Json) -> None:
        """Record that the run succeeded, commit that with what the job has written, and close.

        A later `settle` of the same claim finds it done, whatever it reports.

        Raises:
            TransactionError: the run has lost its claim, or the job ended the transaction or
                broke it; nothing that was still in the transaction is kept. Or the commit was not
                answered: then nobody knows, and a later `settle` finds out.
        """
        ...

    def drop(self) -> None:
        """Keep nothing, and close. It never raises, and may be repeated."""
        ...

    def release(self) -> None:
        """Keep nothing from here on, though the job may still use the connection.

        From any thread. It never raises. A database that one transaction stops for everybody is
        free again; of others the job may keep locks until it returns.
        """
        ...


class Transactional(Protocol):
    """What a store promises besides, if its capabilities say that it is transactional."""

    def enqueue_within(self, connection: object, works: Collection[Work]) -> list[Enqueued]:
        """Put one-off work in through a transaction that the caller has begun and will end.

        As `enqueue`: the work is there once the caller has committed, and never if not. Who wants
        the same unique key waits until then, or gets an error of the database; so may this call.
        A switch that is turned while the transaction is open stops the start, not the birth.

        Raises:
            TransactionError: the connection is of another driver, or in no transaction.
            NotSameDatabase: it leads elsewhere. Nothing was written.
            Exception: whatever the driver raises, as it is: the transaction is the caller's.
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

        It commits each statement; whoever asked closes it.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        ...
