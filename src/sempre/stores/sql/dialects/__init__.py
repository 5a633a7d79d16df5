"""What the store asks of a database: transactions, and how its SQL is put."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from sempre.ports.store import Capabilities

__all__ = ["Apart", "Callers", "Dialect", "FastPathMiss", "Transaction"]

T = TypeVar("T")


class FastPathMiss(Exception):
    """A fast path met what only the long way deals with: the transaction is undone and repeated."""


class Transaction(Protocol):
    """One transaction, in which statements are called by name.

    Attributes:
        writes_in_reading: whether one statement can write and read, so that `tick`, `take` and
            `start_slots` are single ones.
        may_miss: whether the transaction is repeated if it fails, so that a fast path may fail.
    """

    writes_in_reading: bool
    may_miss: bool

    @property
    def place(self) -> object:
        """Which database it is on: another one if its file was replaced; a server is always one."""
        ...

    @property
    def now(self) -> datetime:
        """The store's now: asked for once, when first needed, after whatever was waited for."""
        ...

    def send(self, name: str, /) -> None:
        """Let a statement run before the next one, which tells if it failed; it answers nothing."""
        ...

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows; a list is handed over as a JSON array of texts."""
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

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed."""
        ...

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each of many rows, at once."""
        ...

    def script(self, text: str) -> None:
        """Run the statements of a migration."""
        ...


class Apart(Protocol):
    """A transaction on a connection of its own, which a job is given to write in."""

    @property
    def connection(self) -> object:
        """The driver's connection; it refuses to commit or to roll back."""
        ...

    @property
    def transaction(self) -> Transaction:
        """The same for statements of the store."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it is still the transaction that was begun: SQL can end it all the same."""
        ...

    def commit(self) -> None:
        """Commit it to disk; what the driver raises comes through."""
        ...

    def release(self) -> None:
        """Free whatever holds up everybody, and let nothing more be written; it never raises.

        Called from another thread than the one that uses the connection.
        """
        ...

    def close(self) -> None:
        """Close the connection, and so drop what was not committed; it never raises."""
        ...


class Callers(Protocol):
    """Transactions of others: of those who enqueue in their own, and of jobs.

    Attributes:
        are_alone: whether nobody else can write while one of them has.
    """

    are_alone: bool

    @property
    def place(self) -> str:
        """Where the store is, without its password."""
        ...

    def joined(self, connection: object) -> AbstractContextManager[Transaction]:
        """Use a caller's connection, whatever its settings, and leave those as they are.

        Raises:
            TransactionError: it is none of this database's driver, or in no transaction.
        """
        ...

    def may_read_the_past(self, transaction: Transaction) -> bool:
        """Tell whether what others commit can be hidden from a caller's transaction."""
        ...

    def place_of(self, connection: object) -> str:
        """Return where a caller's connection leads to."""
        ...

    def apart(self) -> Apart:
        """Begin a transaction on a fresh connection; StoreUnavailable if there is none to get."""
        ...

    def connect(self) -> object:
        """Return a fresh connection that commits each statement; StoreUnavailable if none."""
        ...


class Dialect(Protocol):
    """A database that can hold the store.

    Both ways to run a transaction repeat it, a bounded number of times, if it lost a race that
    the database settled against it, so what they are given must be safe to repeat.

    Raises:
        StoreUnavailable: the database cannot be reached, is busy, full or read-only.
        StoreRefused: it is not set up, closed, or must not be used.
    """

    name: str
    capabilities: Capabilities

    @property
    def callers(self) -> Callers:
        """The transactions of others in this database."""
        ...

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the database: none newer than the transaction's now."""
        ...

    def glance(self, work: Callable[[Transaction], T]) -> T:
        """Run statements that change no row, each on any state; as cheap as can be."""
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run writing work, and commit it durably."""
        ...

    def migrate(self, work: Callable[[Transaction], None]) -> None:
        """Run writing work that changes the schema, one process at a time."""
        ...

    def has_meta(self, transaction: Transaction) -> bool:
        """Tell whether the store was ever set up."""
        ...

    def weaker_promises(self) -> tuple[str, ...]:
        """Return what this database, as it is set up, promises less than others: a sentence each.

        All of it was accepted when the dialect was made; anything else is refused.
        """
        ...

    def complete(self, text: str) -> str:
        """Return the SQL of a migration with the names of this store's tables."""
        ...

    def close(self) -> None:
        """Give back every connection."""
        ...
