"""A Redis or Valkey server: connections, scripts by their SHA, and what its errors mean.

Nothing is repeated here after an error: the script may have run, and whoever asked knows what to
do about it. The one exception is a server that does not know a script yet, which has run nothing.
"""

import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha1
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any

from sempre.addresses.spelling import hide_secrets, shown_url
from sempre.errors import NOT_SET_UP, StoreError, StoreGone, StoreRefused, StoreUnavailable

__all__ = ["Server", "script_text"]

_SCRIPTS = files("sempre.stores.redis").joinpath("scripts")
_NEEDS = re.compile(r"-- needs: (.*)\n")
# What a server says when it cannot do now what it could do otherwise: the driver has classes for
# some of it, whose texts then lack the word, and a script quotes the rest.
_UNAVAILABLE_CLASSES = (
    "ConnectionError",
    "TimeoutError",
    "ReadOnlyError",
    "OutOfMemoryError",
    "ClusterDownError",
    "MasterDownError",
    "MovedError",
    "AskError",
    "TryAgainError",
)
_UNAVAILABLE = re.compile(
    r"\b(READONLY|OOM|LOADING|CLUSTERDOWN|MASTERDOWN|MISCONF|NOREPLICAS|BUSY|TRYAGAIN|MOVED|ASK)\b"
)
# What the server will say again, and what to do about it; the driver takes some codes away.
_REFUSED = (
    (
        "the server refuses this user; check user and password in the store URL",
        re.compile("NOAUTH|WRONGPASS|Authentication required|username-password pair"),
    ),
    ("this user lacks a right; grant it with ACL SETUSER", re.compile("NOPERM|no permissions")),
    (
        "there is no database of that number; check the number after the host",
        re.compile("DB index is out of range"),
    ),
    (
        "the server's certificate is not accepted; check ?ssl_ca_certs= in the store URL",
        re.compile("CERTIFICATE_VERIFY_FAILED|SSL Certificate"),
    ),
)
_NO_TLS = "; a server without TLS does not answer rediss://"


@cache
def script_text(name: str) -> str:
    """Return a script: the parts that its first line names, and itself."""
    text = _SCRIPTS.joinpath(f"{name}.lua").read_text("utf-8")
    found = _NEEDS.match(text)
    needs = found.group(1).split() if found else []
    parts = [_SCRIPTS.joinpath("parts", f"{part}.lua").read_text("utf-8") for part in needs]
    return "\n".join([*parts, text])


@cache
def _sha_of(name: str) -> str:
    return sha1(script_text(name).encode(), usedforsecurity=False).hexdigest()


class Server:
    """The server of a URL: `redis://`, `rediss://` or `unix://`. Connects when first asked."""

    def __init__(self, url: str, *, root: str, timeout: float) -> None:
        """Check what can be checked without connecting."""
        self._redis = _driver()
        self._root = root
        self._url = url
        self.address = shown_url(url)
        self._closed = False
        try:
            self._client = self._redis.Redis.from_url(
                url,
                encoding="utf-8",
                encoding_errors="surrogatepass",
                decode_responses=True,
                protocol=2,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=self._redis.retry.Retry(self._redis.backoff.NoBackoff(), 0),
            )
        except (ValueError, TypeError):
            # What the driver says repeats the URL.
            message = f"{self.address} is no URL of Redis; it is spelt redis://host:6379/0."
            raise StoreRefused(message) from None

    def run(self, script: str, arguments: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script by its SHA, or by its text if the server does not have it yet."""
        given = [1, self._root, *arguments]
        try:
            return self._ask("EVALSHA", _sha_of(script), *given)
        except self._redis.exceptions.NoScriptError:
            return self._ask("EVAL", script_text(script), *given)

    def info(self) -> dict[str, Any]:
        """Return what the server says of itself."""
        found: dict[str, Any] = self._ask("INFO")
        return found

    def setting(self, name: str) -> str:
        """Return a setting; an empty text if it may not be read."""
        try:
            return str(self._ask("CONFIG GET", name).get(name, ""))
        except StoreUnavailable:
            raise
        except StoreError:
            return ""

    def publish(self, channel: str, word: str) -> None:
        """Send a word to every connection that is subscribed to a channel."""
        self._ask("PUBLISH", channel, word)

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        self._client.close()
        self._client.connection_pool.disconnect()

    def _ask(self, *command: str | int) -> Any:  # noqa: ANN401
        if self._closed:
            raise StoreError(f"the store {self.address} is closed; open another one.")
        errors = self._redis.exceptions
        try:
            return self._client.execute_command(*command)
        except errors.NoScriptError:
            raise
        except errors.RedisError as error:
            if isinstance(error, errors.TimeoutError):
                # What is idle may be as dead, and would cost whoever gets it as much patience.
                self._client.connection_pool.disconnect(inuse_connections=False)
            raise self._meaning(error) from None
        except OSError as error:
            raise self._meaning(error) from None

    def _meaning(self, error: Exception) -> StoreError:
        errors = self._redis.exceptions
        said = hide_secrets(str(error), self._url)
        if said.startswith("GONE"):
            return StoreGone(f"{self.address}: {NOT_SET_UP}")
        said = (said or type(error).__name__).rstrip(".")
        for remedy, words in _REFUSED:
            if words.search(said):
                return StoreRefused(f"{self.address} cannot be used: {remedy} ({said}).")
        message = f"{self.address}: {said}"
        if isinstance(error, errors.AuthenticationError | errors.NoPermissionError):
            return StoreRefused(message)
        if isinstance(error, errors.TimeoutError) and self._url.startswith("rediss:"):
            message += _NO_TLS
        lost = (OSError, *(getattr(errors, name) for name in _UNAVAILABLE_CLASSES))
        if isinstance(error, lost) or _UNAVAILABLE.search(said):
            return StoreUnavailable(message)
        return StoreError(message)


def _driver() -> ModuleType:
    try:
        return import_module("redis")
    except ImportError as error:
        message = 'the Redis store needs a driver: pip install "sempre[redis]"'
        raise StoreRefused(message) from error
