"""Notifying: NOTIFY of PostgreSQL through the store's own connections, or through a caller's."""

from sempre.stores.sql.dialects import Dialect

__all__ = ["SqlNotifier"]


class SqlNotifier:
    """Notifies the connections that listen to a channel; only for a store in PostgreSQL.

    A notification is sent after the commit that it announces, in a transaction of its own: a
    notification inside a commit makes all such commits of the server wait for each other. Only a
    caller's transaction that does not report its commit contains the notification.
    """

    def __init__(self, dialect: Dialect, channel: str) -> None:
        """Notify through the connections of a store."""
        self._dialect = dialect
        self._channel = channel

    def notify(self, word: str) -> None:
        """Notify now."""
        self._dialect.autocommit(lambda own: own.rows("notify", channel=self._channel, word=word))

    def notify_within(self, connection: object, word: str) -> None:
        """Notify when a caller's transaction commits; errors of the driver are raised."""
        with self._dialect.callers.join(connection) as transaction:
            transaction.rows("notify", channel=self._channel, word=word)
