"""The pool of connections to PostgreSQL, and why a connection could not be opened.

The driver's pool hides why: it logs each failed attempt, and the caller only learns that no
connection came in time. Here each attempt records its error, and the log lines of our own pools
are for the level DEBUG.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from sempre.stores.sql.dialects.postgresql.address import ENCODING
from sempre.stores.sql.dialects.postgresql.connection import Connection

__all__ = ["Attempts", "open_pool"]

NAME = "sempre"
# In seconds: after so long the driver's pool gives up, and begins again with short pauses.
GIVES_UP_AFTER = 1.0


class Attempts:
    """The attempts of a pool to connect.

    Attributes:
        error: the error of the last attempt; None if it succeeded or there was none.
        failures: the number of failed attempts.
    """

    def __init__(self) -> None:
        """Begin without an attempt."""
        self.error: psycopg.Error | None = None
        self.failures = 0

    def recorded(self) -> type[Connection]:
        """Return a class of connections whose attempts are recorded here."""
        attempts = self

        class Recorded(Connection):
            @classmethod
            def connect(cls, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - handed on
                try:
                    made = super().connect(*arguments, **options)
                except psycopg.Error as error:
                    attempts.error = error
                    attempts.failures += 1
                    raise
                attempts.error = None
                return made

        return Recorded


def open_pool(
    conninfo: str,
    attempts: Attempts,
    *,
    configure: Callable[[Connection], None],
    size: int,
    patience: float,
) -> ConnectionPool[Connection]:
    """Return a pool that connects at its first use.

    Args:
        conninfo: a URL, or a text of the driver.
        attempts: records each attempt to connect.
        configure: is called with each new connection.
        size: the largest number of open connections.
        patience: how many seconds a caller waits for a connection.
    """
    return ConnectionPool(
        conninfo,
        connection_class=attempts.recorded(),
        configure=configure,
        min_size=0,
        max_size=size,
        name=NAME,
        timeout=patience,
        reconnect_timeout=min(GIVES_UP_AFTER, patience),
        reconnect_failed=_reconnect,
        kwargs={
            "autocommit": True,
            "client_encoding": ENCODING,
            "prepare_threshold": None,
            "connect_timeout": max(2, int(patience)),
        },
        open=True,
    )


def _reconnect(pool: "ConnectionPool[Connection]") -> None:
    """Let a pool that has given up connect for the callers that still wait.

    The driver's pool tries again only for its next caller; earlier ones would wait in vain, though
    the server is back.
    """
    if pool.get_stats().get("requests_waiting"):
        with suppress(PoolTimeout, PoolClosed):
            pool.putconn(pool.getconn(timeout=0.01))


def _is_wanted(record: logging.LogRecord) -> bool:
    """Drop the driver's records about our own pools, unless the log is at DEBUG."""
    subject = record.args[0] if isinstance(record.args, tuple) and record.args else None
    if subject == NAME or isinstance(subject, Connection):
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    return True


logging.getLogger("psycopg.pool").addFilter(_is_wanted)
