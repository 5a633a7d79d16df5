"""A Redis or Valkey server: its connections, and Lua scripts by their SHA, for store and broker.

A command is sent once. After an error the script may have run, and the caller knows what to do. The
one exception is a server that does not know a script yet, which has run nothing.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from hashlib import sha1
from importlib import import_module
from importlib.resources import files
from typing import Any

from sempre.addresses.spelling import hide_secrets, shown_url
from sempre.errors import MissingExtra, SempreError

__all__ = ["PREFIX_FORM", "RedisServer", "is_prefix", "script_text"]

PREFIX_FORM = "a small letter or _, then up to 40 small letters, digits or _"
_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,40}")
_NEEDS = re.compile(r"-- needs: (.*)\n")


def is_prefix(text: str) -> bool:
    """Return whether keys may begin with a text: see `PREFIX_FORM`."""
    return _PREFIX.fullmatch(text) is not None


@cache
def script_text(package: str, name: str) -> str:
    """Return a script of a package, after the parts that its first line names."""
    scripts = files(package).joinpath("scripts")
    text = scripts.joinpath(f"{name}.lua").read_text("utf-8")
    found = _NEEDS.match(text)
    needs = found.group(1).split() if found else []
    parts = [scripts.joinpath("parts", f"{part}.lua").read_text("utf-8") for part in needs]
    return "\n".join([*parts, text])


class RedisServer(ABC):
    """The server of a URL: `redis://`, `rediss://` or `unix://`. Connects at the first command.

    Args:
        url: of the server.
        package: whose folder `scripts` has the scripts.
        root: what all keys begin with.
        answer_after: for how many seconds the server may take to connect, and to answer.
        undecodable: how the codec writes bytes that are no UTF-8.

    Raises:
        MissingExtra: the driver is not installed.
    """

    def __init__(
        self, url: str, *, package: str, root: str, answer_after: float, undecodable: str
    ) -> None:
        """Check what can be checked without connecting."""
        try:
            self._driver = import_module("redis")
        except ImportError:
            raise MissingExtra("redis", extra="redis") from None
        self._url, self.address = url, shown_url(url)
        self._package, self._root = package, root
        self._answer_after = answer_after
        self._shas: dict[str, str] = {}
        self._closed = False
        try:
            self._client = self._driver.Redis.from_url(
                url,
                encoding="utf-8",
                encoding_errors=undecodable,
                decode_responses=True,
                protocol=2,
                socket_timeout=answer_after,
                socket_connect_timeout=answer_after,
                **({} if url.startswith("unix:") else {"socket_keepalive": True}),
                retry=self._driver.retry.Retry(self._driver.backoff.NoBackoff(), 0),
            )
        except (ValueError, TypeError):
            # The driver's error repeats the URL.
            message = f"{self.address} is no URL of Redis; it is spelt redis://host:6379/0."
            raise self._refusal(message) from None

    @abstractmethod
    def _refusal(self, message: str) -> SempreError:
        """Return the error of a URL that cannot be used."""

    @abstractmethod
    def _explanation(self, error: Exception, said: str) -> SempreError:
        """Return the error that a failure of a command means; `said` has no secrets."""

    def run(self, script: str, arguments: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script by its SHA, or by its text if the server does not have it yet."""
        given = [1, self._root, *arguments]
        try:
            return self.ask("EVALSHA", self._sha_of(script), *given)
        except self._driver.exceptions.NoScriptError:
            return self.ask("EVAL", self._script(script), *given)

    def ask(self, *command: str | int) -> Any:  # noqa: ANN401
        """Send a command and return the answer; `NoScriptError` of the driver passes through."""
        errors = self._driver.exceptions
        try:
            return self._client.execute_command(*command)
        except errors.NoScriptError:
            raise
        except (errors.RedisError, OSError) as error:
            if isinstance(error, errors.TimeoutError):
                # Idle connections may be as dead: the next caller would wait as long for each.
                self._client.connection_pool.disconnect(inuse_connections=False)
            raise self._explained(error) from None
        finally:
            if self._closed:
                # Another thread closed during the command: the driver has connected again.
                self._client.connection_pool.disconnect()

    def close(self) -> None:
        """Close every connection, also of commands that are under way."""
        self._closed = True
        self._client.close()
        self._client.connection_pool.disconnect()

    def _explained(self, error: Exception) -> SempreError:
        said = hide_secrets(str(error), self._url) or type(error).__name__
        return self._explanation(error, said.rstrip("."))

    def _script(self, name: str) -> str:
        return script_text(self._package, name)

    def _sha_of(self, script: str) -> str:
        known = self._shas.get(script)
        if known is None:
            text = self._script(script).encode()
            known = self._shas[script] = sha1(text, usedforsecurity=False).hexdigest()
        return known
