"""LISTEN and NOTIFY of PostgreSQL: a direct connection that tells other processes: look now.

It needs a session of its own, so no pooler in transaction mode may stand between. If it cannot be
had, waits last as long as they may, which is what they did without it, and it is tried again.
"""

import logging
from threading import RLock
from typing import Any

from sempre.brokers.processes import PerProcess
from sempre.brokers.waker import Ending, Waker
from sempre.clock import Clock, SystemClock
from sempre.errors import MissingExtra

try:
    import psycopg
    from psycopg import sql
except ImportError:
    raise MissingExtra("psycopg", extra="postgres") from None

__all__ = ["Listener"]

# A server that is gone without a word is found out in seconds; libpq takes no less than two.
_LIMITS = {
    "connect_timeout": 2,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 5000,
}
_logger = logging.getLogger(__name__)
_Connection = psycopg.Connection[Any]


class _Session:
    """The connection of one process, and who waits for it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.waker = Waker()
        self.connection: _Connection | None = None
        self.retry_at = 0.0
        self.is_deaf = False


class Listener:
    """A watch for all processes that use the same PostgreSQL database.

    Args:
        conninfo: a URL or a text of the driver.
        channel: what is listened to; other stores in the database have others.
        clock: by which waits end.
        retry_after: how many seconds to let pass before a lost connection is tried again.
    """

    shared = True

    def __init__(
        self,
        conninfo: str,
        *,
        channel: str = "sempre",
        clock: Clock | None = None,
        retry_after: float = 5.0,
    ) -> None:
        """Connect to nothing yet."""
        self._conninfo = conninfo
        self._channel = channel
        self._clock = clock or SystemClock()
        self._retry_after = retry_after
        self._process = PerProcess(_Session)
        self._closed = False

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken, or until there is a new connection: who knows what it missed.

        A wake is not heard while connecting, which takes two seconds at most.
        """
        session, until = self._process.get(), self._clock.elapsed() + seconds
        while True:
            connection = self._connected(session)
            now = self._clock.elapsed()
            left = (until if connection else min(until, max(now, session.retry_at))) - now
            try:
                ending = session.waker.wait(left, *filter(None, [connection]))
            except psycopg.Error:
                return True  # another thread has just lost the connection
            if ending is Ending.WOKEN or (ending is Ending.READABLE and self._is_told(session)):
                return True
            if ending is Ending.TIME and self._clock.elapsed() >= until:
                return False

    def tell(self) -> None:
        """Notify whoever listens, and wake whoever waits in this process."""
        session = self._process.get()
        with session.lock:
            connection = self._connected(session)
            try:
                if connection is not None:
                    connection.execute("SELECT pg_notify(%s, '')", [self._channel])
            except psycopg.Error as error:
                self._lose(session, error)
        session.waker.wake()

    def wake(self) -> None:
        """End every wait of this process."""
        self._process.get().waker.wake()

    def close(self) -> None:
        """End every wait, and close the connection of this process."""
        self._closed = True
        session = self._process.get()
        session.waker.wake()
        with session.lock:
            if session.connection is not None:
                session.connection.close()
            session.connection = None

    def _connected(self, session: _Session) -> "_Connection | None":
        """Return the connection, made now if it is time for that; None if there is none."""
        with session.lock:
            is_due = self._clock.elapsed() >= session.retry_at
            if session.connection is None and is_due and not self._closed:
                self._try_to_connect(session)
            return session.connection

    def _try_to_connect(self, session: _Session) -> None:
        try:
            session.connection = self._connect()
        except psycopg.Error as error:
            self._go_without(session, error)
        else:
            session.is_deaf = False
            session.waker.wake()

    def _connect(self) -> "_Connection":
        # mypy does not see that the limits are among the driver's own keywords.
        limits: dict[str, Any] = dict(_LIMITS)
        connection = psycopg.connect(self._conninfo, autocommit=True, **limits)
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        return connection

    def _is_told(self, session: _Session) -> bool:
        """Read what has come; what other processes told is passed on to every thread."""
        with session.lock:
            connection = session.connection
            if connection is None:
                return True
            try:
                notes = list(connection.notifies(timeout=0))
            except psycopg.Error as error:
                self._lose(session, error)
                return True
            own = connection.info.backend_pid
        if all(note.pid == own for note in notes):
            return False
        session.waker.wake()
        return session.waker.is_woken()

    def _lose(self, session: _Session, error: psycopg.Error) -> None:
        """Let every thread look once: who knows what was told meanwhile."""
        if session.connection is not None:
            session.connection.close()
        session.connection = None
        self._go_without(session, error)
        session.waker.wake()

    def _go_without(self, session: _Session, error: psycopg.Error) -> None:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        if not session.is_deaf:
            _logger.warning("not listening to PostgreSQL, workers look by themselves: %s", told)
        session.is_deaf = True
        session.retry_at = self._clock.elapsed() + self._retry_after
