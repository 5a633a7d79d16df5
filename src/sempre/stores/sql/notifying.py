"""Notifying: NOTIFY of PostgreSQL through the store's own connections, or through a caller's."""

from sempre.stores.sql.dialects import Dialect

__all__ = ["SqlNotifier"]


class SqlNotifier:
    """Notifies the connections that listen to a channel. Only of a store in PostgreSQL.

    A notification travels after the commit that it tells of, in a transaction of its own: one that
    is part of a commit makes all such commits of the server wait for each other. Only the
    transaction of a caller who does not say when it commits takes the notification with it.
    """

    def __init__(self, dialect: Dialect, channel: str) -> None:
        """Notify through the connections of a store."""
        self._dialect = dialect
        self._channel = channel

    def notify(self, word: str) -> None:
        """Send a word now."""
        self._dialect.autocommit(lambda own: own.rows("notify", channel=self._channel, word=word))

    def notify_within(self, connection: object, word: str) -> None:
        """Send a word when the transaction of a caller commits; what the driver raises comes."""
        with self._dialect.callers.join(connection) as transaction:
            transaction.rows("notify", channel=self._channel, word=word)
