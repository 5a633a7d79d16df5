"""MariaDB: a pool of connections, READ COMMITTED, and the server's clock.

Statements that lock find rows by a list of ids, or by an index in order, so that READ COMMITTED
locks only the wanted rows.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from sempre.errors import StoreError, StoreRefused, StoreUnavailable
from sempre.forking import keep_uncollected
from sempre.ports.store import Capabilities
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb.address import read_address
from sempre.stores.sql.dialects.mariadb.callers import MariadbCallers
from sempre.stores.sql.dialects.mariadb.failures import (
    RACES,
    RIGHTS,
    code_of,
    explain,
    is_silence,
)
from sempre.stores.sql.dialects.mariadb.packets import SMALL_PACKET
from sempre.stores.sql.dialects.mariadb.pool import (
    SESSION_SETTINGS,
    Pool,
    check_server,
    pymysql,
)
from sempre.stores.sql.dialects.mariadb.transaction import MariadbTransaction
from sempre.stores.sql.dialects.retries import TRIES, BegunTransaction, RetryingDialect
from sempre.stores.sql.statements import Statements

__all__ = ["Mariadb"]

T = TypeVar("T")


class Mariadb(RetryingDialect[Any]):
    """A database of a MariaDB server.

    Args:
        url: such as mariadb://user:password@host:3306/database, with `?unix_socket=` or the files
            of `ssl_ca`, by which the server is then verified, `ssl_cert` and `ssl_key`. Its
            password appears in no message.
        prefix: the beginning of the names of the tables.
        connections: the largest number of open connections.
        statement_after: how many seconds a statement may take before the server cancels it; a
            silent server is given up after a quarter more.
        connect_after: how many seconds a caller waits for a connection.
        wait: waits the seconds between two tries.
        any_flush: accept a server whose commits do not wait for the disk.
        any_cluster: accept a Galera node; no process may write to another node.
        read_only: accept a server that is read-only.
    """

    name = "mariadb"
    driver_error = pymysql.Error
    capabilities = Capabilities(durable=True, shared=True, remote=True, transactional=True)

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "sempre_",
        connections: int = 8,
        statement_after: float = 8.0,
        connect_after: float = 8.0,
        wait: Callable[[float], object] | None = None,
        any_flush: bool = False,
        any_cluster: bool = False,
        read_only: bool = False,
    ) -> None:
        """Check what can be checked without connecting."""
        super().__init__(wait)
        self._place, address = read_address(url)
        self._new_pool = partial(
            Pool,
            self._place,
            address | _driver(statement_after, connect_after),
            setup=_setup(statement_after),
            check=partial(
                check_server,
                place=self._place,
                any_flush=any_flush,
                any_cluster=any_cluster,
                read_only=read_only,
            ),
            size=connections,
            patience=connect_after,
        )
        self._statement_after = statement_after
        self._sql = Statements(self.name, prefix=prefix)
        self.statements = self._sql.completed(r"%(\1)s")
        wrap = self._wrapped
        self.callers = MariadbCallers(self._place, address, wrap, connect_after=connect_after)
        self._lock = Lock()
        self._pool: Pool | None = None
        self._closed = False

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the database: that of the beginning."""
        level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
        return self._transact(
            (level, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"), work
        )

    def autocommit(self, work: Callable[[Transaction], T]) -> T:
        """Run statements that change no row, each a transaction by itself."""
        return self._transact((), work)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run writing work, and commit it to disk."""
        return self._transact(("START TRANSACTION READ WRITE",), work)

    def migrate(self, work: Callable[[Transaction], None]) -> None:
        """Run writing work that changes the schema, one process at a time."""

        def alone(transaction: Transaction) -> None:
            name = {"name": self._sql.prefix}
            seconds = self._statement_after / 2
            if transaction.rows("lock_schema", seconds=seconds, **name)[0][0] != 1:
                raise StoreUnavailable(f"{self._place} is being set up by another process.")
            try:
                work(transaction)
            finally:
                transaction.rows("unlock_schema", **name)

        self.write(alone)

    def weaker_promises(self) -> tuple[str, ...]:
        """Return the promises that this server does not keep, a sentence each."""
        pool = self._current_pool()
        if pool.weaker is None:
            self.read(lambda transaction: transaction.now)
        return pool.weaker or ()

    def has_meta(self, transaction: Transaction) -> bool:
        """Whether the store was ever set up to the end."""
        table = f"{self._sql.prefix}meta"
        return bool(transaction.rows("has_meta", table=table) and transaction.rows("read_meta"))

    def complete(self, text: str) -> str:
        """Return SQL with the names of this store's tables."""
        return self._sql.complete(text)

    def close(self) -> None:
        """Close every connection of this process."""
        with self._lock:
            self._closed = True
            if self._pool is not None and self._pool.pid == os.getpid():
                self._pool.close()
            self._pool = None

    def _connected(self) -> AbstractContextManager[Any]:
        return self._current_pool().connection()

    def _begin(self, connection: Any, begin: Sequence[str]) -> MariadbTransaction:  # noqa: ANN401
        try:
            for text in begin:
                connection.query(text)
        except BaseException:
            _give_up(connection)
            raise
        return self._wrapped(connection, is_begun=bool(begin))

    def _commit(self, connection: Any, transaction: BegunTransaction) -> None:  # noqa: ANN401
        if transaction.is_begun:
            connection.commit()

    def _roll_back(self, connection: Any) -> None:  # noqa: ANN401
        try:
            connection.rollback()
        except pymysql.Error:
            _give_up(connection)

    def _is_lost(self, connection: Any, error: BaseException) -> bool:  # noqa: ANN401
        return not connection.open and not is_silence(error)

    def _is_race(self, error: Exception) -> bool:
        return code_of(error) in RACES

    def _note_failure(self, error: Exception, *, is_lost: bool) -> None:
        # A connection keeps the rights that its user had when it was opened.
        if is_lost or is_silence(error) or code_of(error) in RIGHTS:
            self._current_pool().drop_idle()

    def _explain(self, error: Exception) -> StoreError:
        return explain(error, self._place)

    def _wrapped(self, connection: Any, *, is_begun: bool = True) -> MariadbTransaction:  # noqa: ANN401
        packet = self._pool.packet if self._pool is not None else SMALL_PACKET
        return MariadbTransaction(connection, self.statements, packet=packet, is_begun=is_begun)

    def _current_pool(self) -> Pool:
        """Return the pool of this process; a forked child opens its own."""
        with self._lock:
            if self._closed:
                raise StoreRefused(f"the store in {self._place} is closed; open another one.")
            if self._pool is None or self._pool.pid != os.getpid():
                keep_uncollected(self._pool)
                self._pool = self._new_pool()
            return self._pool


def _driver(statement_after: float, connect_after: float) -> dict[str, Any]:
    """Return the options of the driver besides the address."""
    return {
        "autocommit": True,
        "charset": "utf8mb4",
        "init_command": SESSION_SETTINGS,
        "client_flag": pymysql.constants.CLIENT.FOUND_ROWS,
        "connect_timeout": connect_after,
        "read_timeout": statement_after * 1.25,  # the server gives up first
        "write_timeout": statement_after * 1.25,
    }


def _setup(statement_after: float) -> tuple[str, ...]:
    """Return the first statements of every connection. Each try waits for locks anew."""
    lock_after = max(1, int(statement_after / TRIES))
    variables = {
        "time_zone": "'+00:00'",
        "sql_mode": "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
        "innodb_lock_wait_timeout": lock_after,
        "max_statement_time": statement_after,
        "idle_transaction_timeout": max(1, int(statement_after)),
        "in_predicate_conversion_threshold": 0,
    }
    return (
        "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET " + ", ".join(f"SESSION {name} = {value}" for name, value in variables.items()),
    )


def _give_up(connection: Any) -> None:  # noqa: ANN401 - the driver has no types
    if connection.open:
        with suppress(pymysql.Error):
            connection.close()
