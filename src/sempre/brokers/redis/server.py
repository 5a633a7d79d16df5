"""A Redis or Valkey server: connections, scripts by their SHA, and subscriptions to lanes.

Whatever the server says that is no answer, and whatever happens to a connection, is
`BrokerUnavailable`: full, read-only, loading, moved, or gone. Nothing is repeated after an error;
the driver connects again at the next call. Each process has its own: a lock of the driver that some
thread held in the moment of a fork would be held in the child for ever.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha1
from importlib import import_module
from importlib.resources import files
from typing import Any

from sempre.addresses.spelling import hide_secrets, shown_url
from sempre.errors import BrokerError, BrokerUnavailable, MissingExtra

__all__ = ["Server", "Subscription"]

_SCRIPTS = files("sempre.brokers.redis").joinpath("scripts")


@cache
def _script(name: str) -> tuple[str, str]:
    """Return a script's SHA and its text."""
    text = _SCRIPTS.joinpath(f"{name}.lua").read_text("utf-8")
    return sha1(text.encode(), usedforsecurity=False).hexdigest(), text


class Server:
    """The server of a URL: `redis://`, `rediss://` or `unix://`. Connects when first asked."""

    def __init__(self, url: str, *, root: str, answer_after: float) -> None:
        """Check what can be checked without connecting."""
        try:
            self._redis = import_module("redis")
        except ImportError:
            raise MissingExtra("redis", extra="redis") from None
        self._root = root
        self._answer_after = answer_after
        self._url, self.address = url, shown_url(url)
        try:
            self._client = self._redis.Redis.from_url(
                url,
                encoding="utf-8",
                encoding_errors="surrogateescape",
                decode_responses=True,
                protocol=2,
                socket_timeout=answer_after,
                socket_connect_timeout=answer_after,
                **({} if url.startswith("unix:") else {"socket_keepalive": True}),
                retry=self._redis.retry.Retry(self._redis.backoff.NoBackoff(), 0),
            )
        except (ValueError, TypeError):
            # What the driver says repeats the URL.
            message = f"{self.address} is no URL of Redis; it is spelt redis://host:6379/0."
            raise BrokerError(message) from None

    def run(self, script: str, arguments: Iterable[str | int]) -> Any:  # noqa: ANN401
        """Run a script by its SHA, or by its text if the server does not have it yet."""
        sha, text = _script(script)
        given = [1, self._root, *arguments]
        with self._explained():
            try:
                return self._client.execute_command("EVALSHA", sha, *given)
            except self._redis.exceptions.NoScriptError:
                return self._client.execute_command("EVAL", text, *given)

    def read(self, command: str, key: str, *arguments: str) -> Any:  # noqa: ANN401
        """Return the answer to a command about one of our keys."""
        with self._explained():
            return self._client.execute_command(command, f"{self._root}{key}", *arguments)

    def subscribe(self, lanes: Sequence[str]) -> "Subscription":
        """Return a subscription to what becomes due in lanes; from now on nothing is missed."""
        with self._explained():
            subscription = Subscription(self._client.pubsub(), lanes)
            subscription.begin(f"{self._root}lane:", answer_after=self._answer_after)
            return subscription

    def listen(self, channel: str) -> "Subscription":
        """Return a subscription to a channel by its whole name; from now on nothing is missed."""
        with self._explained():
            subscription = Subscription(self._client.pubsub(), [channel])
            subscription.begin("", answer_after=self._answer_after)
            return subscription

    def close(self) -> None:
        """Close every connection of this process."""
        self._client.close()
        self._client.connection_pool.disconnect()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (self._redis.exceptions.RedisError, OSError) as error:
            said = hide_secrets(str(error), self._url) or type(error).__name__
            raise BrokerUnavailable(f"{self.address} cannot be used: {said.rstrip('.')}.") from None


class Subscription:
    """A connection on which the server tells that something has become due. Of one thread."""

    def __init__(self, driver: Any, lanes: Iterable[str]) -> None:  # noqa: ANN401
        """Begin without a connection."""
        self._driver = driver
        self._pid = os.getpid()
        self.lanes = frozenset(lanes)
        _OPEN.add(driver)

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
            raise TimeoutError("it did not confirm a subscription in time")

    def fileno(self) -> int:
        """Return the file descriptor, to be waited for."""
        # The driver can wait for its own socket only, and we wait for a wake as well.
        number: int = self._driver.connection._sock.fileno()  # noqa: SLF001
        return number

    def is_alive_after_reading(self) -> bool:
        """Read what the server has told, without waiting; False if the connection is gone."""
        return self.words() is not None

    def words(self) -> list[str] | None:
        """Return what the server has told, without waiting; None if the connection is gone."""
        found: list[str] = []
        try:
            while (told := self._driver.get_message(timeout=0)) is not None:
                found.append(str(told["data"]))
        except Exception:  # noqa: BLE001 - whatever it was, the next question to the server tells
            return None
        return found

    def close(self) -> None:
        """Hang up."""
        with suppress(Exception):
            self._driver.close()
        _OPEN.discard(self._driver)

    def __del__(self) -> None:
        """Hang up when the thread ends that had it, but not in a child, whose it is not."""
        if self._pid == os.getpid():
            self.close()


# What subscriptions have open. A fork collects what other threads had, and the driver would then
# wait in the child for a lock that one of them may have held.
_OPEN: set[Any] = set()
