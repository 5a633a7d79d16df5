"""PostgreSQL: a pool of connections, READ COMMITTED, and the server's clock.

Nothing depends on which connection is used, so a pooler in transaction mode may stand between. Only
where the server that answers is the one that we are connected to, statements are prepared, and what
a connection is set to stays; elsewhere every transaction sets its own limits. Each waits for the
disk whatever the server's default is: `synchronous_commit` is not asked for, but said.

Every statement is made of probes of an index, and statistics that are minutes old must not talk the
server into reading whole tables instead: of rows that have just come into being they know nothing.
For the same reason plans are made once, whatever the values: a limit that it does not know keeps
the server from sorting all that is due.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TypeVar

from sempre.clock import Clock, SystemClock
from sempre.errors import StoreError, StoreRefused, StoreUnavailable
from sempre.forking import keep_uncollected
from sempre.ports.store import Capabilities
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.retries import BegunTransaction, RetryingDialect
from sempre.stores.sql.statements import Statements

try:
    import psycopg
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

    from sempre.stores.sql.dialects.postgresql.address import describe, driver_options
    from sempre.stores.sql.dialects.postgresql.callers import PostgresqlCallers
    from sempre.stores.sql.dialects.postgresql.connection import (
        Connection,
        Unanswered,
        check_server,
    )
    from sempre.stores.sql.dialects.postgresql.failures import (
        OUTDATED,
        RACES,
        UNPREPARED,
        explain,
        sqlstate_of,
    )
    from sempre.stores.sql.dialects.postgresql.pool import Attempts, open_pool
    from sempre.stores.sql.dialects.postgresql.transaction import PostgresqlTransaction
except ImportError as error:
    message = "PostgreSQL needs its driver: pip install 'sempre[postgres]'."
    raise StoreRefused(message) from error

__all__ = ["Postgresql", "driver_options"]

T = TypeVar("T")
# The number of uses on a connection after which a statement is prepared, so that its plan is kept.
PREPARED_AFTER = 1
# In seconds: a plan for tables that are nearly empty is bad once they are full. So plans are kept
# for a minute; for a second, if a transaction took longer than a transaction of few rows does.
PLANS_KEPT, PLANS_TRUSTED = 60.0, 1.0
SHORT = 0.02
# The beginning of a transaction. Each asks to wait for the disk: a pooler may change servers.
DURABLE = "SET LOCAL synchronous_commit = on"
AUTOCOMMIT = ()
READ = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
WRITE = ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", DURABLE)
# In seconds: a server that never answered is reported soon; one that did may be back in a moment.
FIRST_PATIENCE = 0.2


class Postgresql(RetryingDialect[Connection]):
    """A schema in a PostgreSQL database.

    Args:
        conninfo: a URL, or a text of the driver. The password appears in no message.
        schema: the schema of the tables, which is created if there is none.
        prefix: the beginning of the names of the tables.
        connections: the largest number of open connections.
        statement_after: how many seconds a statement may take before the server cancels it; a
            silent server is given up after a quarter more.
        connect_after: how many seconds a caller waits for a connection.
        wait: waits the seconds between two tries.
        clock: measures the age of plans.
        any_flush: accept a server whose commits do not wait for the disk.
        read_only: accept a server that is read-only.
    """

    name = "postgresql"
    driver_error = psycopg.Error
    capabilities = Capabilities(durable=True, shared=True, remote=True, transactional=True)

    def __init__(
        self,
        conninfo: str,
        *,
        schema: str = "sempre",
        prefix: str = "sempre_",
        connections: int = 8,
        statement_after: float = 8.0,
        connect_after: float = 8.0,
        wait: Callable[[float], object] | None = None,
        clock: Clock | None = None,
        any_flush: bool = False,
        read_only: bool = False,
    ) -> None:
        """Check what can be checked without connecting."""
        super().__init__(wait)
        self._place = describe(conninfo)
        self._check = partial(
            check_server, place=self._place, any_flush=any_flush, read_only=read_only
        )
        self._weaker: tuple[str, ...] | None = None
        self._answer_after = statement_after * 1.25  # the server gives up first
        self._generation = 0
        self._can_prepare = True
        self._conninfo = conninfo
        self._schema = schema
        self._connections = connections
        self._connect_after = connect_after
        self._clock = clock or SystemClock()
        self.settings = _settings(int(statement_after * 1000))
        self._sql = Statements(self.name, prefix=prefix, schema=schema)
        self.statements = self._sql.completed(r"%(\1)s")
        wrap = partial(PostgresqlTransaction, statements=self.statements)
        self.callers = PostgresqlCallers(self._place, conninfo, wrap, connect_after=connect_after)
        self._lock = Lock()
        self._attempts = Attempts()
        self._pool: ConnectionPool[Connection] | None = None
        self._pid = 0
        self._closed = False

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run reading work on one state of the database: that of the first statement."""
        return self._transact(READ, work)

    def autocommit(self, work: Callable[[Transaction], T]) -> T:
        """Run each statement in one round trip, unless a pooler is in between."""
        return self._transact(AUTOCOMMIT, work)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run writing work, and commit it to disk."""
        return self._transact(WRITE, work)

    def migrate(self, work: Callable[[Transaction], None]) -> None:
        """Run writing work that changes the schema, one process at a time."""

        def alone(transaction: Transaction) -> None:
            transaction.rows("lock_schema", name=f"sempre {self._schema}")
            # CREATE SCHEMA IF NOT EXISTS needs the right to create schemas even if it exists.
            if not transaction.rows("has_schema", schema=self._schema):
                transaction.run("create_schema")
            work(transaction)

        self.write(alone)

    def weaker_promises(self) -> tuple[str, ...]:
        """Return the promises that this server does not keep, a sentence each."""
        if self._weaker is None:
            self.read(lambda transaction: transaction.now)
        return self._weaker or ()

    def has_meta(self, transaction: Transaction) -> bool:
        """Whether the store was ever set up."""
        return bool(transaction.rows("has_meta", table=self._sql.table("meta")))

    def complete(self, text: str) -> str:
        """Return SQL with the names of this store's tables."""
        return self._sql.complete(text)

    def close(self) -> None:
        """Close every connection of this process."""
        with self._lock:
            self._closed = True
            if self._pool is not None and self._pid == os.getpid():
                self._pool.close()
            self._pool = None

    def _begin(self, connection: Connection, begin: Sequence[str]) -> PostgresqlTransaction:
        self._examine(connection)
        is_direct = connection.is_direct
        if is_direct:
            self._discard_old_plans(connection)
        else:
            connection.execute("; ".join((*(begin or WRITE), self.settings)), prepare=False)
        connection.began_at = self._clock.elapsed()
        unsent = begin if is_direct else ()
        return PostgresqlTransaction(
            connection, self.statements, begin=unsent, is_begun=not is_direct
        )

    def _commit(self, connection: Connection, transaction: BegunTransaction) -> None:
        connection.was_slow |= self._clock.elapsed() - connection.began_at > SHORT
        if transaction.is_begun:
            connection.execute("COMMIT", prepare=False)

    def _roll_back(self, connection: Connection) -> None:
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK", prepare=False)

    def _is_lost(self, connection: Connection, error: BaseException) -> bool:
        is_other = not isinstance(error, psycopg.OperationalError) or isinstance(error, Unanswered)
        return connection.closed and not is_other

    def _is_race(self, error: Exception) -> bool:
        return sqlstate_of(error) in RACES | UNPREPARED

    def _note_failure(self, error: Exception, *, is_lost: bool) -> None:
        state = sqlstate_of(error)
        if is_lost or isinstance(error, Unanswered) or state in UNPREPARED | OUTDATED:
            self._generation += 1
        self._can_prepare = self._can_prepare and state not in UNPREPARED

    def _explain(self, error: Exception) -> StoreError:
        return explain(error, self._place)

    def _examine(self, connection: Connection) -> None:
        """Check the server of a new connection; a server that passed before is only unavailable."""
        if connection.is_examined:
            return
        [(answering, *found)] = connection.execute(self.statements["server_settings"]).fetchall()
        is_direct = answering == connection.info.backend_pid and psycopg.Pipeline.is_supported()
        if is_direct and self._can_prepare:
            connection.execute(self.settings.replace("SET LOCAL", "SET"), prepare=False)
            connection.prepare_threshold = PREPARED_AFTER
            connection.is_direct = True
        try:
            self._weaker = self._check(found)
        except StoreRefused as error:
            if self._weaker is None:
                raise
            raise StoreUnavailable(str(error)) from None
        connection.is_examined = True

    def _discard_old_plans(self, connection: Connection) -> None:
        """Let the server discard old plans of a connection."""
        elapsed = self._clock.elapsed()
        kept_for = PLANS_TRUSTED if connection.was_slow else PLANS_KEPT
        if elapsed - connection.planned_at >= kept_for:
            connection.execute("DISCARD PLANS", prepare=False)
            connection.planned_at, connection.was_slow = elapsed, False

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Lend a connection that was opened after the last one that was found lost or silent."""
        left, failures = self._connect_after, self._attempts.failures
        while True:
            patience = min(FIRST_PATIENCE, left) if self._weaker is None else left
            try:
                with self._current_pool().connection(patience) as connection:
                    if connection.generation == self._generation:
                        yield connection
                        return
                    connection.close()
            except PoolTimeout:
                left -= patience
                self._check_attempts(failures, is_over=left <= 0)
            except PoolClosed:
                message = f"the store in {self._place} is closed; open another one."
                raise StoreRefused(message) from None

    def _check_attempts(self, failures: int, *, is_over: bool) -> None:
        """Raise the reason why no connection was opened, or that all are in use for too long.

        An attempt that failed before this call says nothing about the server as it is now.
        """
        is_new = self._attempts.failures > failures or is_over
        if self._attempts.error is not None and is_new:
            raise explain(self._attempts.error, self._place) from None
        if is_over:
            raise StoreUnavailable(
                f"{self._place} gave no connection within {self._connect_after:g} s: all are in "
                f"use, or it does not answer. Raise ?connections={self._connections} in the store "
                "URL, or check the host."
            ) from None

    def _configure(self, connection: Connection) -> None:
        connection.answer_after = self._answer_after
        connection.generation = self._generation
        connection.planned_at = self._clock.elapsed()

    def _current_pool(self) -> "ConnectionPool[Connection]":
        """Return the pool of this process; a forked child opens its own."""
        with self._lock:
            if self._closed:
                raise StoreRefused(f"the store in {self._place} is closed; open another one.")
            if self._pool is None or self._pid != os.getpid():
                if self._pool is not None:
                    keep_uncollected(self._pool)
                self._pid, self._attempts = os.getpid(), Attempts()
                self._pool = open_pool(
                    self._conninfo,
                    self._attempts,
                    configure=self._configure,
                    size=self._connections,
                    patience=self._connect_after,
                )
            return self._pool


def _settings(limit: int) -> str:
    """Return the settings of every transaction; `limit` is the milliseconds of a statement."""
    return (
        f"SET LOCAL statement_timeout = {limit}; "
        f"SET LOCAL idle_in_transaction_session_timeout = {limit}; SET LOCAL jit = off; "
        "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; "
        "SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_generic_plan"
    )
