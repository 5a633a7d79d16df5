"""The database of a store: set up, identified, and used in transactions."""

from collections.abc import Callable
from typing import TypeVar

from sempre.domain.unreadable import Unreadable
from sempre.errors import NOT_SET_UP, StoreGone
from sempre.ports.messages import Reading
from sempre.stores.sql import migrations
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.home import Home
from sempre.stores.sql.switches import with_switches

__all__ = ["Database"]

T = TypeVar("T")


class Database:
    """A database in one of the dialects. Call `upgrade` once before any other method."""

    def __init__(self, dialect: Dialect) -> None:
        """Use a database; no connection is opened yet."""
        self.capabilities = dialect.capabilities
        self._dialect = dialect
        self._uuid = ""
        self._home = Home()

    @property
    def uuid(self) -> str:
        """The identity of the store, generated once when the store is set up."""
        if not self._uuid:
            version, uuid = self._dialect.autocommit(self._meta)
            migrations.check_version(version)
            self._uuid = uuid
        return self._uuid

    @property
    def weaker_promises(self) -> tuple[str, ...]:
        """The promises that this database does not keep with its settings: a sentence each."""
        return self._dialect.weaker_promises()

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Set the store up, or bring its schema to this version."""
        self._home.move(migrations.upgrade(self._dialect, fence=fence))
        if as_copy:
            self._dialect.write(migrations.give_identity)
        self._uuid = ""

    def close(self) -> None:
        """Close every connection."""
        self._dialect.close()

    def _read(self, ask: Callable[[Transaction], T]) -> Reading[T]:
        """Run a query, and return its value with the store's now, by which the caller plans."""

        def answer(transaction: Transaction) -> Reading[T]:
            return Reading(transaction.now, ask(transaction))

        return self._run(self._checked().read, answer)

    def _read_rows(self, ask: Callable[[Transaction, list[Unreadable]], T]) -> Reading[T]:
        """Run a query that lists left-out rows; return its value, the list and the store's now."""

        def answer(transaction: Transaction) -> Reading[T]:
            left_out: list[Unreadable] = []
            value = ask(transaction, left_out)
            return Reading(transaction.now, value, tuple(left_out))

        return self._run(self._checked().read, answer)

    def _write(self, order: Callable[[Transaction], T]) -> T:
        return self._run(self._checked().write, order)

    def _run(
        self, how: Callable[[Callable[[Transaction], T]], T], work: Callable[[Transaction], T]
    ) -> T:
        """Run a transaction; if the database was emptied, forget the identity of the store."""
        try:
            return how(work)
        except StoreGone:
            self._uuid = ""
            raise

    def _write_with_switches(self, order: Callable[[Transaction], T]) -> T:
        return with_switches(lambda: self._write(order), self._dialect)

    def _write_at_home(self, order: Callable[[Transaction], T], *, by_heartbeat: bool = False) -> T:
        """Run work of a session under the switches; StoreGone if the database was replaced."""

        def check(transaction: Transaction) -> T:
            self._home.check(transaction.place, by_heartbeat=by_heartbeat)
            return order(transaction)

        return self._write_with_switches(check)

    def _checked(self) -> Dialect:
        """Return the database after a check that its schema has the version of this code."""
        if not self._uuid:
            _ = self.uuid
        return self._dialect

    def _meta(self, transaction: Transaction) -> tuple[int, str]:
        # Another process may have created the table, but not its row yet.
        found = transaction.rows("read_meta") if self._dialect.has_meta(transaction) else []
        if not found:
            raise StoreGone(f"{NOT_SET_UP}.")
        [(version, uuid)] = found
        return version, uuid
