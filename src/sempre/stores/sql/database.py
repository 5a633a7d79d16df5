"""The database of a store: set up, known to be the right one, and asked in transactions."""

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
    """A database, by its dialect. Call `upgrade` once before anything else."""

    def __init__(self, dialect: Dialect) -> None:
        """Use a database; nothing is opened yet."""
        self.capabilities = dialect.capabilities
        self._dialect = dialect
        self._uuid = ""
        self._home = Home()

    @property
    def uuid(self) -> str:
        """The store's own identity, made once when it is set up."""
        if not self._uuid:
            version, uuid = self._dialect.glance(self._meta)
            migrations.check_version(version)
            self._uuid = uuid
        return self._uuid

    @property
    def weaker_promises(self) -> tuple[str, ...]:
        """What this database, as it is set up, promises less than others: a sentence each."""
        return self._dialect.weaker_promises()

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Set the store up, or bring its schema to this version."""
        self._home.move(migrations.upgrade(self._dialect, fence=fence))
        if as_copy:
            self._dialect.write(migrations.give_identity)
        self._uuid = ""

    def close(self) -> None:
        """Give back every connection."""
        self._dialect.close()

    def _read(self, ask: Callable[[Transaction], T]) -> Reading[T]:
        """Answer with the store's now, by which whoever asked goes on planning."""

        def answer(transaction: Transaction) -> Reading[T]:
            return Reading(transaction.now, ask(transaction))

        return self._run(self._checked().read, answer)

    def _read_rows(self, ask: Callable[[Transaction, list[Unreadable]], T]) -> Reading[T]:
        """Answer likewise, and with the rows that were left out, which `ask` puts on its list."""

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
        """Run work; of a database that somebody has emptied the identity is known no more."""
        try:
            return how(work)
        except StoreGone:
            self._uuid = ""
            raise

    def _write_with_switches(self, order: Callable[[Transaction], T]) -> T:
        return with_switches(lambda: self._write(order), self._dialect)

    def _write_at_home(self, order: Callable[[Transaction], T], *, tells: bool = False) -> T:
        """Run work of a session under the switches, unless the database is another one by now."""

        def check(transaction: Transaction) -> T:
            self._home.check(transaction.place, tells=tells)
            return order(transaction)

        return self._write_with_switches(check)

    def _checked(self) -> Dialect:
        """Return the database, once it is known to have the schema that this code expects."""
        if not self._uuid:
            _ = self.uuid
        return self._dialect

    def _meta(self, transaction: Transaction) -> tuple[int, str]:
        # Another process may have just made the table, and not yet its row.
        found = transaction.rows("read_meta") if self._dialect.has_meta(transaction) else []
        if not found:
            raise StoreGone(f"{NOT_SET_UP}.")
        [(version, uuid)] = found
        return version, uuid
