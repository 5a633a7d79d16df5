"""A pool of connections to MariaDB: the driver has none.

Threads share the connections; a forked child opens its own. Each server is checked when a
connection is opened, and every connection gets equal settings.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition
from typing import Any

from sempre.errors import StoreRefused, StoreUnavailable
from sempre.stores.sql.dialects.mariadb.packets import SMALL_PACKET
from sempre.stores.sql.dialects.weaker_promises import accept

try:
    import pymysql  # type: ignore[import-untyped]
except ImportError as error:
    message = "MariaDB needs its driver: pip install 'sempre[mariadb]'."
    raise StoreRefused(message) from error

__all__ = ["SESSION_SETTINGS", "STATEMENT_SETTINGS", "Pool", "check_server", "pymysql"]

OLDEST = 10, 6
_UNLIMITED = "sql_safe_updates = 0, sql_select_limit = 18446744073709551615"
SESSION_SETTINGS = f"SET SESSION {_UNLIMITED}"
"""The first statement of every connection: a server may forbid updates, or limit the rows."""
STATEMENT_SETTINGS = f"SET STATEMENT {_UNLIMITED} FOR "
"""These settings for one statement on a caller's connection, without a round trip."""
_VARIABLES = """SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', 'wsrep_on',
    'wsrep_provider', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog',
    'max_allowed_packet')"""


def check_server(
    found: dict[str, str], place: str, *, any_flush: bool, any_cluster: bool, read_only: bool
) -> tuple[str, ...]:
    """Return the promises that a server with these variables does not keep, a sentence each.

    Raises:
        StoreRefused: the server breaks a promise of the store, and no option accepts that.
    """
    version = found.get("version", "")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if "mariadb" not in version.lower() or not numbers:
        raise StoreRefused(f"{place} is no MariaDB but {version!r}; only MariaDB can be used.")
    if (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise StoreRefused(f"{place} is {version}; at least MariaDB {oldest} is needed: update it.")
    weaker: list[str] = []
    if found.get("wsrep_on") == "ON" and found.get("wsrep_provider", "none") != "none":
        weaker += accept(
            place,
            "it is a node of a Galera cluster, where two nodes can start the same execution",
            remedy="Give all processes the address of one and the same node",
            keyword="any_cluster",
            accepted=any_cluster,
        )
    if found.get("read_only", "OFF") != "OFF":
        weaker += accept(
            place,
            "it is read-only, as a replica is, so that nothing can be started from it",
            remedy="Connect to the primary server",
            keyword="read_only",
            accepted=read_only,
        )
    for name in _unflushed(found):
        weaker += accept(
            place,
            f"its {name} is {found[name]}: after a loss of power what was acknowledged may be "
            "gone, so it may start again",
            remedy=f"SET GLOBAL {name} = 1",
            keyword="any_flush",
            accepted=any_flush,
        )
    return tuple(weaker)


def _unflushed(found: dict[str, str]) -> Iterator[str]:
    """Yield the variables that keep a commit from waiting for the disk."""
    if found.get("innodb_flush_log_at_trx_commit", "1") not in ("1", "3"):
        yield "innodb_flush_log_at_trx_commit"
    # With a binary log, that log decides after a crash what was committed.
    if found.get("log_bin") == "ON" and found.get("sync_binlog", "1") != "1":
        yield "sync_binlog"


class Pool:
    """The connections of one process.

    Args:
        place: the address of the database, for messages.
        driver: the options with which the driver connects.
        setup: the first statements of every connection.
        check: returns the promises that a server with these variables does not keep, or raises.
        size: the largest number of open connections.
        patience: how many seconds a caller waits for a connection.
    """

    def __init__(
        self,
        place: str,
        driver: dict[str, Any],
        *,
        setup: tuple[str, ...],
        check: Callable[[dict[str, str]], tuple[str, ...]],
        size: int,
        patience: float,
    ) -> None:
        """Open nothing yet."""
        self.pid = os.getpid()
        self.weaker: tuple[str, ...] | None = None
        self.packet = SMALL_PACKET
        self._place = place
        self._driver = driver
        self._setup = setup
        self._check = check
        self._size = size
        self._patience = patience
        self._free = Condition()
        self._idle: list[Any] = []
        self._in_use = 0
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Lend a connection, and keep it for the next caller if it is still open afterwards."""
        connection = self._borrow()
        try:
            connection = connection or self._open()
            yield connection
        finally:
            with self._free:
                self._in_use -= 1
                if connection is not None and connection.open:
                    self._idle.append(connection)
                    if self._closed:
                        self._drop_idle()
                self._free.notify()

    def drop_idle(self) -> None:
        """Close the connections that are not in use: one of them was found lost."""
        with self._free:
            self._drop_idle()

    def close(self) -> None:
        """Close every connection: those in use when they come back."""
        with self._free:
            self._closed = True
            self._drop_idle()
            self._free.notify_all()

    def _borrow(self) -> Any:  # noqa: ANN401 - a connection of a driver without types
        """Return an idle connection, or None where there is room to open one."""
        with self._free:
            if not self._free.wait_for(
                lambda: self._closed or self._in_use < self._size, self._patience
            ):
                raise StoreUnavailable(
                    f"{self._place} gave no connection within {self._patience:g} s: all are in "
                    f"use. Raise ?connections={self._size} in the store URL."
                )
            if self._closed:
                raise StoreRefused(f"the store in {self._place} is closed; open another one.")
            self._in_use += 1
            return self._idle.pop() if self._idle else None

    def _open(self) -> Any:  # noqa: ANN401
        try:
            connection = pymysql.connect(**self._driver)
        except (OSError, RuntimeError) as error:
            # Raised before anything is sent: a TLS file is missing, or a way to log in.
            remedy = "check ssl_ca, ssl_cert and ssl_key in the store URL"
            raise StoreRefused(f"{self._place} cannot be used: {error}; {remedy}.") from None
        try:
            with connection.cursor() as cursor:
                cursor.execute(_VARIABLES)
                self._examine(dict(cursor.fetchall()))
                for text in self._setup:
                    cursor.execute(text)
        except BaseException:
            connection.close()
            raise
        return connection

    def _examine(self, found: dict[str, str]) -> None:
        """Check a server; a server that passed before is only unavailable: it may pass again."""
        self.packet = int(found.get("max_allowed_packet", SMALL_PACKET))
        try:
            self.weaker = self._check(found)
        except StoreRefused as error:
            if self.weaker is None:
                raise
            raise StoreUnavailable(str(error)) from None

    def _drop_idle(self) -> None:
        for connection in self._idle:
            with suppress(pymysql.Error):
                connection.close()
        self._idle.clear()
