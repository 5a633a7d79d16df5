"""SQLite: one file, one connection per thread, one writer at a time.

Write-ahead log, full synchronisation, and a transaction that writes has the file from its
beginning, so nothing that was read can change before it is written. The host's clock is the
store's clock. Several processes may use one file; several hosts may not.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import Lock, local
from typing import TypeVar
from weakref import WeakSet

from sempre.clock import Clock, SystemClock
from sempre.errors import StoreError, StoreRefused
from sempre.forking import PerProcess
from sempre.ports.store import Capabilities
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.retries import TRIES, BegunTransaction, RetryingDialect
from sempre.stores.sql.dialects.sqlite.callers import SqliteCallers
from sempre.stores.sql.dialects.sqlite.connection import PRIVATE, Connection, open_file
from sempre.stores.sql.dialects.sqlite.failures import BUSY, Moved, code_of, explain
from sempre.stores.sql.dialects.sqlite.filesystems import check_local
from sempre.stores.sql.dialects.sqlite.transaction import SqliteTransaction
from sempre.stores.sql.statements import Statements

__all__ = ["Sqlite"]

T = TypeVar("T")
OLDEST = (3, 35)  # the first with RETURNING


class Sqlite(RetryingDialect[Connection]):
    """A database file.

    Args:
        path: the file, which is created if there is none. Not `:memory:`: use the memory store.
        clock: the store's clock; by default the clock of the host.
        prefix: the beginning of the names of the tables.
        busy_after: how many seconds a statement waits for another process.
        any_filesystem: use the file although its file system is known to lose locks.
        mode: the mode of a new file, and of the files beside it.
        wait: waits the seconds between two tries.

    Raises:
        StoreRefused: SQLite is too old, or the file is on a network file system.
    """

    name = "sqlite"
    driver_error = sqlite3.Error
    capabilities = Capabilities(durable=True, shared=True, remote=False, transactional=True)

    def __init__(
        self,
        path: str | Path,
        *,
        clock: Clock | None = None,
        prefix: str = "sempre_",
        busy_after: float = 5.0,
        any_filesystem: bool = False,
        mode: int = PRIVATE,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        """Check what can be checked without opening the file."""
        super().__init__(wait)
        if sqlite3.sqlite_version_info < OLDEST:
            message = f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed."
            raise StoreRefused(message)
        if str(path) in ("", ":memory:") or str(path).startswith("file:"):
            message = f"{str(path)!r} is no file that several connections share; give a path."
            raise StoreRefused(message)
        self.path = Path(path).absolute()
        if not any_filesystem:
            check_local(self.path)
        self._clock = clock or SystemClock()
        self._busy_after = busy_after
        self._mode = mode
        self._sql = Statements(self.name, prefix=prefix)
        self.statements = self._sql.completed()
        wrap = partial(SqliteTransaction, statements=self.statements, clock=self._clock)
        self.callers = SqliteCallers(self.path, self.statements, wrap, busy_after=busy_after)
        self._local = local()
        self._connections: WeakSet[Connection] = WeakSet()
        self._lock = Lock()
        self._turn_to_write = PerProcess(Lock)
        self._closed = False

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the file: that of the first statement."""

        def begun(transaction: Transaction) -> T:
            # Before the clock is read: the state must not be newer than the store's now.
            transaction.rows("settle_on_state")
            return work(transaction)

        return self._transact(("BEGIN",), begun)

    autocommit = read

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run writing work; no other transaction writes meanwhile.

        Threads of this process wait for each other by a lock: SQLite would poll and sleep.
        """

        def checked(transaction: Transaction) -> T:
            answer = work(transaction)
            # What is committed to a file that is gone would be acknowledged and lost.
            if not self._local.connection.is_current:
                raise Moved
            return answer

        with self._turn_to_write.get():
            return self._transact(("BEGIN IMMEDIATE",), checked)

    def migrate(self, work: Callable[[Transaction], None]) -> None:
        """Run writing work that changes the schema; other writers wait as for any write."""
        self.write(work)

    def weaker_promises(self) -> tuple[str, ...]:
        """Return the promises that this file system does not keep, a sentence each."""
        try:
            check_local(self.path)
        except StoreRefused as error:
            return (str(error),)
        return ()

    def has_meta(self, transaction: Transaction) -> bool:
        """Whether the store was ever set up."""
        return bool(transaction.rows("has_meta", table=self._sql.table("meta")))

    def complete(self, text: str) -> str:
        """Return the SQL of a migration with the names of this store's tables."""
        return self._sql.complete(text)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._closed = True
            for connection in list(self._connections):
                connection.close()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection, for inspection; not within a transaction."""
        return self._connect().raw

    def _connected(self) -> AbstractContextManager[Connection]:
        return nullcontext(self._connect())

    def _begin(self, connection: Connection, begin: Sequence[str]) -> SqliteTransaction:
        for text in begin:
            connection.raw.execute(text)
        transaction = SqliteTransaction(connection.raw, self.statements, self._clock)
        transaction.place = connection.place
        return transaction

    def _commit(self, connection: Connection, _: BegunTransaction) -> None:
        connection.raw.execute("COMMIT")

    def _roll_back(self, connection: Connection) -> None:
        # Some errors have ended the transaction already.
        if connection.raw.in_transaction:
            with suppress(sqlite3.Error):
                connection.raw.execute("ROLLBACK")
        if connection.raw.in_transaction:
            self._local.connection = None

    def _is_lost(self, _: Connection, __: BaseException) -> bool:
        return False

    def _is_race(self, error: Exception) -> bool:
        return isinstance(error, Moved) or code_of(error) in BUSY

    def _explain(self, error: Exception) -> StoreError:
        return explain(error, self.path, waited=f"{TRIES} times {self._busy_after:g} s")

    def _connect(self) -> Connection:
        """Return this thread's connection to the file that is at the path now.

        A forked child opens its own connections.
        """
        if self._closed:
            message = f"the store {self.path} is closed; open another one."
            raise StoreRefused(message)
        known: Connection | None = getattr(self._local, "connection", None)
        if known is not None and known.is_own and known.is_current:
            return known
        fresh = open_file(self.path, self._busy_after, mode=self._mode, before=known)
        if known is not None:
            known.leave()
        with self._lock:
            self._connections.add(fresh)
        self._local.connection = fresh
        return fresh
