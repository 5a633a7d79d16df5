"""The Redis server of a broker: what its errors mean, and subscriptions to channels.

Every failure of a command or a connection is `BrokerUnavailable`: full, read-only, loading, moved
or gone. The driver connects again at the next call. Each process has a server of its own: a child
would keep a lock of the driver that another thread held at the fork.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from sempre.errors import BrokerError, BrokerUnavailable
from sempre.forking import keep_uncollected
from sempre.redis_server import RedisServer

__all__ = ["BrokerServer", "Subscription"]

_PACKAGE = "sempre.brokers.redis"


class BrokerServer(RedisServer):
    """The server of a broker, for one process."""

    def __init__(self, url: str, *, root: str, answer_after: float) -> None:
        """Check what can be checked without connecting."""
        super().__init__(
            url,
            package=_PACKAGE,
            root=root,
            answer_after=answer_after,
            undecodable="surrogateescape",
        )

    def read(self, command: str, key: str, *arguments: str) -> Any:  # noqa: ANN401
        """Return the answer to a command about a key of the broker."""
        return self.ask(command, f"{self._root}{key}", *arguments)

    def subscribe(self, lanes: Sequence[str]) -> "Subscription":
        """Return a subscription to lanes: from now on it reports each message that becomes due."""
        return self._subscribe(lanes, f"{self._root}lane:")

    def listen(self, channel: str) -> "Subscription":
        """Return a subscription to a channel by its whole name; it misses nothing from now on."""
        return self._subscribe([channel], "")

    def _subscribe(self, names: Sequence[str], channel: str) -> "Subscription":
        try:
            subscription = Subscription(self._client.pubsub(), names)
            subscription.begin(channel, answer_after=self._answer_after)
        except (self._driver.exceptions.RedisError, OSError) as error:
            raise self._explained(error) from None
        return subscription

    def _refusal(self, message: str) -> BrokerError:
        return BrokerError(message)

    def _explanation(self, error: Exception, said: str) -> BrokerError:  # noqa: ARG002 - every error
        return BrokerUnavailable(f"{self.address} cannot be used: {said}.")


class Subscription:
    """A connection on which the server reports messages that have become due. Of one thread."""

    def __init__(self, driver: Any, lanes: Iterable[str]) -> None:  # noqa: ANN401
        """Begin without a connection."""
        self._driver = driver
        self._pid = os.getpid()
        self.lanes = frozenset(lanes)

    def begin(self, channel: str, *, answer_after: float) -> None:
        """Subscribe to the channels of the lanes, and wait until the server has confirmed it."""
        try:
            self._driver.subscribe(*(f"{channel}{lane}" for lane in self.lanes))
            answers = [self._driver.get_message(timeout=answer_after) for _ in self.lanes]
        except BaseException:
            self.close()
            raise
        if None in answers:
            self.close()
            raise TimeoutError("the server did not confirm a subscription in time")

    def fileno(self) -> int:
        """Return the file descriptor of the connection."""
        # The driver can wait for its own socket only; a worker waits for wake-ups as well.
        number: int = self._driver.connection._sock.fileno()  # noqa: SLF001
        return number

    def is_alive_after_reading(self) -> bool:
        """Read what the server has sent, without waiting; False if the connection is lost."""
        return self.words() is not None

    def words(self) -> list[str] | None:
        """Return what the server has sent, without waiting; None if the connection is lost."""
        found: list[str] = []
        try:
            while (message := self._driver.get_message(timeout=0)) is not None:
                found.append(str(message["data"]))
        except Exception:  # noqa: BLE001 - the next command to the server tells the cause
            return None
        return found

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._driver.close()

    def __del__(self) -> None:
        """Close the connection when its thread ends. A child keeps its parent's connection."""
        if self._pid == os.getpid():
            self.close()
        else:
            # To collect it, the driver would wait for a lock that a thread held at the fork.
            keep_uncollected(self._driver)
