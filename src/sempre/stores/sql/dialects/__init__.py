"""The dialects: what the store needs of a database, and of a transaction in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from sempre.ports.store import Capabilities

__all__ = ["Callers", "Dialect", "FastPathMiss", "JobTransaction", "Transaction"]

T = TypeVar("T")


class FastPathMiss(Exception):
    """A fast path met a case that it does not cover: the transaction is undone and repeated."""


class Transaction(Protocol):
    """One transaction, which runs statements by their names.

    Attributes:
        writes_in_reading: whether one statement can write and return rows, so that `tick`, `take`
            and `start_slots` are single statements.
        may_miss: whether the transaction is repeated if it fails, so that a fast path may fail.
    """

    writes_in_reading: bool
    may_miss: bool

    @property
    def place(self) -> object:
        """The database of the transaction: another value once its file is replaced."""
        ...

    @property
    def now(self) -> datetime:
        """The store's now, read once: at the first use, so after every lock that came before."""
        ...

    def send(self, name: str, /) -> None:
        """Run a statement without rows before the next one, which raises if this one failed."""
        ...

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows; a list is passed as a JSON array of texts."""
        ...

    def due(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Return the ids of due rows, most urgent first, or oldest first."""
        ...

    def due_to_take(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Lock and return due one-off rows, without rows that another transaction has locked."""
        ...

    def view_rows(self, ids: Sequence[str]) -> list[Sequence[Any]]:
        """Return the executions of schedules that planning reads; a row may come twice."""
        ...

    def latest_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the newest executions of each of these schedules."""
        ...

    def outcome_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the last outcomes of each of these schedules."""
        ...

    def pushed_out(
        self, bounds: Sequence[tuple[str, int]], *, now: int, limit: int
    ) -> list[Sequence[Any]]:
        """Return the oldest ended executions that finished before an instant of their schedule."""
        ...

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed."""
        ...

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for many rows, in as few round trips as possible."""
        ...

    def script(self, text: str) -> None:
        """Run the statements of a migration."""
        ...


class JobTransaction(Protocol):
    """A transaction on a connection of its own, in which a job writes."""

    @property
    def connection(self) -> object:
        """The driver's connection; commit and rollback are refused."""
        ...

    @property
    def transaction(self) -> Transaction:
        """The transaction, for statements of the store."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether the transaction still lasts: SQL of the job can end it despite the refusals."""
        ...

    def commit(self) -> None:
        """Commit the transaction to disk; errors of the driver are raised."""
        ...

    def release(self) -> None:
        """Free locks that block every other writer, and let the job write no more; never raise.

        Another thread may be using the connection meanwhile.
        """
        ...

    def close(self) -> None:
        """Close the connection, and so drop what was not committed; never raise."""
        ...


class Callers(Protocol):
    """Transactions of callers, who enqueue in their own transaction, and of jobs.

    Attributes:
        write_alone: whether a caller that has written keeps every other transaction from writing.
    """

    write_alone: bool

    @property
    def place(self) -> str:
        """The address of the store, without its password."""
        ...

    def join(self, connection: object) -> AbstractContextManager[Transaction]:
        """Use a caller's connection, whatever its settings, and leave its settings unchanged.

        Raises:
            TransactionError: the connection is of another driver, or in no transaction.
        """
        ...

    def hides_newer_commits(self, transaction: Transaction) -> bool:
        """Whether a caller's transaction may not see what others have committed since it began."""
        ...

    def place_of(self, connection: object) -> str:
        """Return the address of a caller's connection, without its password."""
        ...

    def begin_for_job(self) -> JobTransaction:
        """Begin a job's transaction on a new connection; StoreUnavailable if none can be opened."""
        ...

    def connect(self) -> object:
        """Return a new connection that commits each statement; StoreUnavailable if none opens."""
        ...


class Dialect(Protocol):
    """A database that can hold the store.

    Work in a transaction must be safe to repeat: see retries.py.

    Raises:
        StoreUnavailable: the database cannot be reached, is busy, full or read-only.
        StoreRefused: the database is not set up, closed, or must not be used.
    """

    name: str
    capabilities: Capabilities

    @property
    def callers(self) -> Callers:
        """The transactions of callers and jobs in this database."""
        ...

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the database, which is not newer than its `now`."""
        ...

    def autocommit(self, work: Callable[[Transaction], T]) -> T:
        """Run statements that change no row, each a transaction by itself: the cheapest way."""
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run writing work, and commit it to disk."""
        ...

    def migrate(self, work: Callable[[Transaction], None]) -> None:
        """Run writing work that changes the schema, one process at a time."""
        ...

    def has_meta(self, transaction: Transaction) -> bool:
        """Whether the store was ever set up."""
        ...

    def weaker_promises(self) -> tuple[str, ...]:
        """Return the promises that this database, as it is set up, does not keep: a sentence each.

        Options of the store's URL have accepted each of them; otherwise the database is refused.
        """
        ...

    def complete(self, text: str) -> str:
        """Return the SQL of a migration with the names of this store's tables."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
