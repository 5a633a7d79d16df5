"""The Redis server of a store: commands that only the store sends, and the meaning of errors."""

import re
from typing import Any

from sempre.errors import NOT_SET_UP, StoreError, StoreGone, StoreRefused, StoreUnavailable
from sempre.redis_server import RedisServer
from sempre.stores.redis.field_lists import with_field_lists

__all__ = ["StoreServer"]

_PACKAGE = "sempre.stores.redis"
# Errors of a server that cannot answer at present. The driver has classes for some errors, whose
# texts lack the code; errors inside a script have the code in their text.
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
# Errors that a retry would meet again, each with its remedy; the driver removes some codes.
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


class StoreServer(RedisServer):
    """The server of a store. Commands after `close` are refused."""

    def __init__(self, url: str, *, root: str, answer_after: float) -> None:
        """Check the URL, without connecting."""
        super().__init__(
            url, package=_PACKAGE, root=root, answer_after=answer_after, undecodable="surrogatepass"
        )

    def ask(self, *command: str | int) -> Any:  # noqa: ANN401
        """Send a command and return the answer.

        Raises:
            StoreError: the command failed, or the store is closed.
        """
        if self._closed:
            raise StoreError(f"the store {self.address} is closed; open another one.")
        return super().ask(*command)

    def info(self) -> dict[str, Any]:
        """Return the answer of INFO."""
        found: dict[str, Any] = self.ask("INFO")
        return found

    def setting(self, name: str) -> str:
        """Return a setting of the server; an empty text if reading settings is forbidden."""
        try:
            return str(self.ask("CONFIG GET", name).get(name, ""))
        except StoreUnavailable:
            raise
        except StoreError:
            return ""

    def publish(self, channel: str, word: str) -> None:
        """Send a word to every connection that is subscribed to a channel."""
        self.ask("PUBLISH", channel, word)

    def _script(self, name: str) -> str:
        return with_field_lists(super()._script(name))

    def _refusal(self, message: str) -> StoreError:
        return StoreRefused(message)

    def _explanation(self, error: Exception, said: str) -> StoreError:
        errors = self._driver.exceptions
        if said.startswith("GONE"):
            return StoreGone(f"{self.address}: {NOT_SET_UP}")
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
