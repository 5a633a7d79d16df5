"""What the store asks of a database: transactions, and how its SQL is put."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from sempre.ports.store import Capabilities

__all__ = ["Dialect", "Transaction"]

T = TypeVar("T")


class Transaction(Protocol):
    """One transaction, in which statements are called by name."""

    @property
    def now(self) -> datetime:
        """The store's now: asked for once, when first needed, after whatever was waited for."""
        ...

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows; a list is handed over as a JSON array of texts."""
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

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the database."""
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
