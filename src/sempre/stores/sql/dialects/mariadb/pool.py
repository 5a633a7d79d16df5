"""A pool of connections to MariaDB, which the driver does not have.

Threads share the connections; a forked child opens its own. Every connection is set up in the
same way, to a server that was looked at first.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sempre.errors import StoreRefused, StoreUnavailable
from sempre.stores.sql.dialects.mariadb.packets import SMALL_PACKET
from sempre.stores.sql.dialects.promises import weaker

try:
    import pymysql  # type: ignore[import-untyped]
except ImportError as error:
    message = "MariaDB needs its driver: pip install 'sempre[mariadb]'."
    raise StoreRefused(message) from error

__all__ = ["FOR_ONE", "OF_OURS", "Pool", "check_server", "pymysql", "read_address"]

OLDEST = 10, 6
_SCHEMES = ("mariadb", "mysql")
_OPTIONS = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")
_UNBOUND = "sql_safe_updates = 0, sql_select_limit = 18446744073709551615"
OF_OURS = f"SET SESSION {_UNBOUND}"
"""What every connection begins with: a server may forbid updates, or cut answers short."""
FOR_ONE = f"SET STATEMENT {_UNBOUND} FOR "
"""The same for one statement, on a connection of others; it costs no round trip."""
_LOOK = """SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', 'wsrep_on',
    'wsrep_provider', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog',
    'max_allowed_packet')"""


def read_address(url: str) -> tuple[str, dict[str, Any]]:
    """Return where a database is, without its password, and what the driver has to be told.

    Raises:
        StoreRefused: the address cannot be read. Nothing of it is in the message.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 3306
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        parts, port, options = urlsplit(""), 0, {}
    database = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in _SCHEMES or not database or not options.keys() <= set(_OPTIONS):
        raise StoreRefused(
            "the address of the MariaDB database cannot be read; it is spelt "
            "mariadb://host:3306/database, with user:password@ before the host, and after a ? come "
            f"{', '.join(_OPTIONS)}."
        )
    host = parts.hostname or "localhost"
    told: dict[str, Any] = {
        "host": host,
        "port": port,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": database,
        **options,
    }
    if options.keys() == {"unix_socket"}:
        # Nobody listens there; and the driver would read every certificate of the host each time.
        told["ssl_disabled"] = True
    if "ssl_ca" in options:
        # By itself the driver would take any certificate, and any name in it.
        told |= {"ssl_verify_cert": True, "ssl_verify_identity": True}
    return f"MariaDB at {options.get('unix_socket', f'{host}:{port}')}/{database}", told


def check_server(
    found: dict[str, str], place: str, *, any_flush: bool, any_cluster: bool, read_only: bool
) -> tuple[str, ...]:
    """Return what a server with these variables promises less than others, a sentence each.

    Raises:
        StoreRefused: it cannot keep what the store promises, and nobody has accepted that.
    """
    version = found.get("version", "")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if "mariadb" not in version.lower() or not numbers:
        raise StoreRefused(f"{place} is no MariaDB but {version!r}; only MariaDB can be used.")
    if (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise StoreRefused(f"{place} is {version}; at least MariaDB {oldest} is needed: update it.")
    told: list[str] = []
    if found.get("wsrep_on") == "ON" and found.get("wsrep_provider", "none") != "none":
        told += weaker(
            place,
            "it is a node of a Galera cluster, where two nodes can start the same execution",
            remedy="Give all processes the address of one and the same node",
            keyword="any_cluster",
            accepted=any_cluster,
        )
    if found.get("read_only", "OFF") != "OFF":
        told += weaker(
            place,
            "it is read-only, as a replica is, so that nothing can be started from it",
            remedy="Connect to the primary server",
            keyword="read_only",
            accepted=read_only,
        )
    for name in _unflushed(found):
        told += weaker(
            place,
            f"its {name} is {found[name]}: after a loss of power what was acknowledged may be "
            "gone, so it may start again",
            remedy=f"SET GLOBAL {name} = 1",
            keyword="any_flush",
            accepted=any_flush,
        )
    return tuple(told)


def _unflushed(found: dict[str, str]) -> Iterator[str]:
    """Yield the variables by which a commit does not wait for the disk."""
    if found.get("innodb_flush_log_at_trx_commit", "1") not in ("1", "3"):
        yield "innodb_flush_log_at_trx_commit"
    # With a binary log it is that log which decides after a crash what was committed.
    if found.get("log_bin") == "ON" and found.get("sync_binlog", "1") != "1":
        yield "sync_binlog"


class Pool:
    """The connections of one process.

    Args:
        place: where the database is, for messages.
        driver: what the driver has to be told to connect.
        setup: the statements that every connection begins with.
        check: looks at the variables of a server, raises what speaks against it, and returns
            what it promises less than others.
        size: how many connections are open at most.
        patience: after how many seconds waiting for a connection is given up.
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
        """Lend a connection; it is kept for the next one if it was given back in good order."""
        connection = self._lent()
        try:
            connection = connection or self._opened()
            yield connection
        finally:
            with self._free:
                self._in_use -= 1
                if connection is not None and connection.open:
                    self._idle.append(connection)
                    if self._closed:
                        self._drop_idle()
                self._free.notify()

    def forget(self) -> None:
        """Drop the connections that nobody uses: one of them was found lost."""
        with self._free:
            self._drop_idle()

    def close(self) -> None:
        """Close every connection, those in use when they are given back."""
        with self._free:
            self._closed = True
            self._drop_idle()
            self._free.notify_all()

    def _lent(self) -> Any:  # noqa: ANN401 - a connection of a driver without types
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

    def _opened(self) -> Any:  # noqa: ANN401
        try:
            connection = pymysql.connect(**self._driver)
        except (OSError, RuntimeError) as error:
            # Raised before anything is sent: a file of TLS, or a way to log in that is missing.
            remedy = "check ssl_ca, ssl_cert and ssl_key in the store URL"
            raise StoreRefused(f"{self._place} cannot be used: {error}; {remedy}.") from None
        try:
            with connection.cursor() as cursor:
                cursor.execute(_LOOK)
                self._examine(dict(cursor.fetchall()))
                for text in self._setup:
                    cursor.execute(text)
        except BaseException:
            connection.close()
            raise
        return connection

    def _examine(self, found: dict[str, str]) -> None:
        """Look at a server; one that was good, and may be so again, is only unavailable."""
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
