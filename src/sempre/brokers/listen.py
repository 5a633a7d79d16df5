"""LISTEN and NOTIFY of PostgreSQL: a worker that waits is woken by commits of other processes.

A pooler that gives a connection to every transaction cannot deliver notifications: LISTEN is left
out there.
"""

from typing import Any

from sempre.brokers.server_watch import LineLost, Notifier, ServerWatch
from sempre.clock import Clock
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
# Which server process answers, and no end to a session that is idle, where the server has one.
_EXAMINE = (
    "SELECT pg_backend_pid(), (SELECT set_config(name, '0', false) FROM pg_settings"
    " WHERE name = 'idle_session_timeout')"
)


class _Line:
    """A connection that listens to a channel."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def fileno(self) -> int:
        try:
            return self._connection.fileno()
        except psycopg.Error as error:
            raise LineLost(_said(error)) from None

    def words(self) -> list[str]:
        try:
            return [note.payload for note in self._connection.notifies(timeout=0)]
        except psycopg.Error as error:
            raise LineLost(_said(error)) from None

    def close(self) -> None:
        self._connection.close()


class Listener(ServerWatch[_Line]):
    """A watch for all processes that use the same PostgreSQL database.

    Args:
        conninfo: a URL or a text of the driver.
        channel: the channel of this store; each store in the database has another.
        notifier: sends the wake-ups.
        through_poolers: whether to listen behind a pooler too, if it keeps sessions.
        clock: by which waits end.
        retry_after: how many seconds to let pass before a lost connection is tried again; twice
            as many each time that fails.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        channel: str,
        notifier: Notifier,
        through_poolers: bool = False,
        clock: Clock | None = None,
        retry_after: float = 0.5,
    ) -> None:
        """Connect to nothing yet."""
        super().__init__("PostgreSQL", notifier, clock=clock, retry_after=retry_after)
        self._conninfo = conninfo
        self._channel = channel
        self._through_poolers = through_poolers

    def _connect(self) -> _Line | None:
        # mypy does not see that the limits are among the driver's own keywords.
        limits: dict[str, Any] = dict(_LIMITS)
        try:
            connection = psycopg.connect(
                self._conninfo,
                autocommit=True,
                client_encoding="UTF8",
                prepare_threshold=None,
                **limits,
            )
        except psycopg.Error as error:
            raise LineLost(_said(error)) from None
        try:
            is_heard = self._listen(connection)
        except psycopg.Error as error:
            connection.close()
            raise LineLost(_said(error)) from None
        if not is_heard:
            connection.close()
            return None
        return _Line(connection)

    def _listen(self, connection: "psycopg.Connection[Any]") -> bool:
        """Listen to the channel; False if a pooler stands between."""
        [(answering, _)] = connection.execute(_EXAMINE).fetchall()
        # A pooler reports a process id of its own.
        if answering != connection.info.backend_pid and not self._through_poolers:
            return False
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        return True


def _said(error: psycopg.Error) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
