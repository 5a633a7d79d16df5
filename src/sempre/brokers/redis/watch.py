"""PUBLISH and SUBSCRIBE of Redis: scripts of other processes wake a waiting worker.

Every waiting worker receives every wake-up. A list that workers pop from would wake one worker
only, which may serve other queues, or die with the popped element.
"""

from sempre.brokers.redis.server import BrokerServer, Subscription
from sempre.brokers.server_watch import LineLost, Notifier, ServerWatch
from sempre.clock import Clock
from sempre.errors import BrokerUnavailable

__all__ = ["RedisWatch"]

ANSWER_AFTER = 5.0


class _Line:
    """A connection that is subscribed to a channel."""

    def __init__(self, server: BrokerServer, subscription: Subscription) -> None:
        self._server = server
        self._subscription = subscription

    def fileno(self) -> int:
        return self._subscription.fileno()

    def words(self) -> list[str]:
        words = self._subscription.words()
        if words is None:
            raise LineLost("the connection was lost")
        return words

    def close(self) -> None:
        self._subscription.close()
        self._server.close()


class RedisWatch(ServerWatch[_Line]):
    """A watch for all processes that use the same store in Redis.

    Args:
        url: of the server.
        channel: the channel of this store; each store on the server has another.
        notifier: sends the wake-ups.
        clock: by which waits end.
        retry_after: how many seconds to let pass before a lost connection is tried again; twice
            as many each time that fails.
    """

    def __init__(
        self,
        url: str,
        *,
        channel: str,
        notifier: Notifier,
        clock: Clock | None = None,
        retry_after: float = 0.5,
    ) -> None:
        """Connect to nothing yet."""
        super().__init__("Redis", notifier, clock=clock, retry_after=retry_after)
        self._url = url
        self._channel = channel

    def _connect(self) -> _Line | None:
        # One server for each connection: a forked child must not share its locks.
        server = BrokerServer(self._url, root="", answer_after=ANSWER_AFTER)
        try:
            return _Line(server, server.listen(self._channel))
        except BrokerUnavailable as error:
            server.close()
            raise LineLost(str(error)) from None
