"""Notifying: PUBLISH of Redis through the store's own connections."""

from sempre.stores.redis.server import StoreServer

__all__ = ["RedisNotifier"]


class RedisNotifier:
    """Notifies the connections that are subscribed to a channel."""

    def __init__(self, server: StoreServer, channel: str) -> None:
        """Notify through the connections of a store."""
        self._server = server
        self._channel = channel

    def notify(self, word: str) -> None:
        """Send a word now."""
        self._server.publish(self._channel, word)

    def notify_within(self, connection: object, word: str) -> None:
        """Do nothing: this store takes no part in a caller's transaction."""
