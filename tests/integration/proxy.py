"""A proxy between a store and its server that loses requests and answers when it is told to.

It knows no protocol: it looks for a text in what the client sends, and takes whatever the server
says next for the answer. That is enough as long as one request is under way at a time.
"""

import re
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from threading import Barrier, Event, Lock, Thread
from typing import Protocol

__all__ = [
    "Interruption",
    "LostAnswer",
    "LostReply",
    "LostRequest",
    "Meeting",
    "Proxy",
    "Rule",
    "Silence",
    "proxy_before",
]

CHUNK = 1 << 16


class Fate(Enum):
    """What becomes of a piece of what is said."""

    PASS = auto()
    DROP = auto()
    CUT = auto()


class Rule(Protocol):
    """Decides over what passes; a link is one connection of a client."""

    fired: Event

    def request(self, link: object, said: bytes) -> Fate: ...

    def answer(self, link: object, said: bytes) -> Fate: ...


class Faithful:
    """Everything passes."""

    def __init__(self) -> None:
        self.fired = Event()

    def request(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        return Fate.PASS

    def answer(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        return Fate.PASS


class LostRequest(Faithful):
    """The first request with a text in it never arrives, and its connection is cut."""

    def __init__(self, text: bytes) -> None:
        super().__init__()
        self._text = re.compile(text)

    def request(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        if self.fired.is_set() or not self._text.search(said):
            return Fate.PASS
        self.fired.set()
        return Fate.CUT


class LostReply(Faithful):
    """The answer to the first request with a text in it is lost, and its connection is cut.

    Args:
        text: what is looked for.
        spared: how an answer begins that says that nothing was done.
    """

    def __init__(self, text: bytes, spared: bytes = b"") -> None:
        super().__init__()
        self._text = re.compile(text)
        self._spared = spared
        self._awaited: object | None = None

    def request(self, link: object, said: bytes) -> Fate:
        if self._awaited is None and self._text.search(said):
            self._awaited = link
        return Fate.PASS

    def answer(self, link: object, said: bytes) -> Fate:
        if self.fired.is_set() or link is not self._awaited:
            return Fate.PASS
        if self._spared and said.startswith(self._spared):
            self._awaited = None
            return Fate.PASS
        self.fired.set()
        return Fate.CUT


class LostAnswer(Faithful):
    """One answer is lost, counted from now on, and its connection is cut."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._left = number
        self._lock = Lock()

    def answer(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        with self._lock:
            self._left -= 1
            if self._left:
                return Fate.PASS
        self.fired.set()
        return Fate.CUT


class Silence(Faithful):
    """A connection on which something was said hears nothing any more; it stays open.

    Args:
        text: what has to be said; nothing is anything.
        links: the only ones that fall silent; None is all, those to come included.
    """

    def __init__(self, text: bytes = b"", links: Collection[object] | None = None) -> None:
        super().__init__()
        self._text = re.compile(text)
        self._links = links
        self._silent: list[object] = []

    def request(self, link: object, said: bytes) -> Fate:
        concerned = self._links is None or link in self._links
        if concerned and link not in self._silent and self._text.search(said):
            self._silent.append(link)
            self.fired.set()
        return self.answer(link, said)

    def answer(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        return Fate.DROP if link in self._silent else Fate.PASS


class Meeting(Faithful):
    """Requests with a text in them wait for each other, so that each has a connection."""

    def __init__(self, text: bytes, number: int) -> None:
        super().__init__()
        self._text = re.compile(text)
        self._barrier = Barrier(number, action=self.fired.set)

    def request(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        if not self.fired.is_set() and self._text.search(said):
            self._barrier.wait()
        return Fate.PASS


class Interruption(Faithful):
    """Something happens to the server when the first request with a text in it is on its way.

    It has fired when that is over, which the client may not have waited for.
    """

    def __init__(self, text: bytes, happens: Callable[[], object]) -> None:
        super().__init__()
        self._text = re.compile(text)
        self._happens: Callable[[], object] | None = happens

    def request(self, link: object, said: bytes) -> Fate:  # noqa: ARG002
        happens = self._happens
        if happens is not None and self._text.search(said):
            self._happens = None
            happens()
            self.fired.set()
        return Fate.PASS


class Proxy:
    """Listens on a port of this machine, and connects each client to the server's socket."""

    def __init__(self, path: str) -> None:
        self.rule: Rule = Faithful()
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._links: list[tuple[socket.socket, socket.socket]] = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def obey(self, rule: Rule) -> None:
        """Go by a rule from now on."""
        self.rule = rule

    def recover(self) -> None:
        """Let everything pass again."""
        self.rule = Faithful()

    @property
    def links(self) -> list[object]:
        """The connections that there have been so far."""
        return list(self._links)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for link in self._links:
            _cut(link)
        for thread in self._threads:
            thread.join()
        for link in self._links:
            for end in link:
                end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._link(client)

    def _link(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        link = client, server
        self._links.append(link)
        try:
            server.connect(self._path)
        except OSError:
            _cut(link)
            return
        for source, target, asks in ((client, server, True), (server, client, False)):
            thread = Thread(target=self._pump, args=(link, source, target, asks), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _pump(
        self,
        link: tuple[socket.socket, socket.socket],
        source: socket.socket,
        target: socket.socket,
        asks: bool,  # noqa: FBT001
    ) -> None:
        with suppress(OSError):
            while said := source.recv(CHUNK):
                rule = self.rule
                fate = rule.request(link, said) if asks else rule.answer(link, said)
                if fate is Fate.CUT:
                    break
                if fate is Fate.PASS:
                    target.sendall(said)
        _cut(link)


def _cut(link: tuple[socket.socket, socket.socket]) -> None:
    for end in link:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy_before(path: str) -> Iterator[Proxy]:
    """Run a proxy before the socket of a server."""
    proxy = Proxy(path)
    try:
        yield proxy
    finally:
        proxy.close()
