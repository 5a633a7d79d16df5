"""The wire to a beanstalkd: commands go out many at a time, answers come back in their order.

The state that the server keeps for a connection is kept here beside the socket: the tube in use,
the tubes that are watched, the reserved jobs. After an error the next answer could belong to any
command, so the connection is closed and never used again.
"""

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from selectors import EVENT_READ, EVENT_WRITE
from threading import Lock
from typing import NamedTuple

from sempre.brokers.waker import Selector, can_read
from sempre.clock import SystemClock

__all__ = ["Address", "Answer", "Line", "ProtocolError", "Wire"]

# How many commands are held in memory at once, ready to be sent.
WINDOW = 1000
# Bytes that fit into the empty buffer of any socket, so that sending them does not block.
AT_ONCE = 16_384
LONGEST_LINE = 1024
_CLOCK = SystemClock()
_WITH_BODY = frozenset({"FOUND", "OK", "RESERVED"})
_MISTAKES = frozenset({"BAD_FORMAT", "EXPECTED_CRLF", "INTERNAL_ERROR", "UNKNOWN_COMMAND"})


class ProtocolError(Exception):
    """The server answered with something that makes no sense here."""


class Address(NamedTuple):
    """Where a server is: a host and a port, or the path of a socket."""

    host: str = "127.0.0.1"
    port: int = 11300
    path: str = ""

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


class Answer(NamedTuple):
    """An answer: its first word, the other words, and the body if there is one."""

    word: str
    rest: list[str]
    body: bytes = b""

    def fields(self) -> dict[str, str]:
        """Return the fields of a body of statistics."""
        lines = self.body.decode("utf-8", "replace").splitlines()
        return {name: value for name, found, value in (x.partition(": ") for x in lines) if found}


class Wire:
    """One connection. Used by one thread at a time.

    Raises:
        OSError: the server cannot be reached, is gone, or did not answer in time.
        ProtocolError: the answer does not belong to the protocol.
    """

    def __init__(
        self,
        address: Address,
        *,
        connect_after: float,
        answer_after: float,
        waited: float = 0.0,
    ) -> None:
        """Connect, for a call that has waited some seconds already."""
        self._answer_after = answer_after
        self.renew(waited=waited)
        connect_after = min(connect_after, self._left())
        if address.path:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(connect_after)
            with _closed_on_error(self._socket):
                self._socket.connect(address.path)
        else:
            self._socket = socket.create_connection(
                (address.host, address.port), timeout=connect_after
            )
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._unread = bytearray()
        self._place = 0
        self.using = "default"
        self.watched = {"default"}
        self.reserved: dict[str, str] = {}

    def fileno(self) -> int:
        """Return the file descriptor, to be waited for."""
        return self._socket.fileno()

    def is_stale(self) -> bool:
        """Return whether an idle connection was closed: the server sends nothing unasked."""
        return can_read(self)

    def renew(self, *, waited: float = 0.0) -> None:
        """Give the server its whole time to answer, less what the call has waited already."""
        self._until = _CLOCK.elapsed() + self._answer_after - waited

    def _left(self) -> float:
        left = self._until - _CLOCK.elapsed()
        if left <= 0:
            raise TimeoutError(f"the server did not answer within {self._answer_after:g} s")
        return left

    def has_reserved(self, job: str, receipt: str) -> bool:
        """Return whether a reservation is the one that this connection has of a job."""
        return bool(receipt) and self.reserved.get(job) == receipt

    def ask(self, commands: Sequence[bytes]) -> list[Answer]:
        """Send commands, many in one write, and return their answers in order."""
        answers: list[Answer] = []
        for start in range(0, len(commands), WINDOW):
            window = commands[start : start + WINDOW]
            self.send(b"".join(window))
            answers += [self.answer() for _ in window]
            self.renew()
        return answers

    def lines(self, commands: Iterable[bytes]) -> list[str]:
        """Send commands that are answered by a line each, such as `put`; return the lines in order.

        The next commands are sent before the answers have come, so that the server never idles.
        """
        found: list[str] = []
        rest, waiting = iter(commands), 0
        while window := list(islice(rest, WINDOW)):
            self.send(b"".join(window))
            found += self._lines(waiting)
            waiting = len(window)
            self.renew()
        return found + self._lines(waiting)

    def send(self, commands: bytes) -> None:
        """Send commands whose answers are read later.

        Answers that come meanwhile are read: a server that cannot answer stops reading commands,
        and both sides would wait for ever.
        """
        if len(commands) <= AT_ONCE:
            self._socket.settimeout(self._left())
            self._socket.sendall(commands)
            return
        left = memoryview(commands)
        with Selector() as selector:
            selector.register(self._socket, EVENT_READ | EVENT_WRITE)
            while left:
                ready = selector.select(self._left())
                if not ready:
                    continue
                if ready[0][1] & EVENT_READ:
                    self._receive()
                if ready[0][1] & EVENT_WRITE:
                    left = left[self._socket.send(left[:AT_ONCE]) :]

    def answer(self) -> Answer:
        """Read the next answer."""
        line = self._line().decode("ascii", "replace")
        word, *rest = line.split() or [""]
        _check_word(word, line)
        return Answer(word, rest, self._body(int(rest[-1])) if word in _WITH_BODY else b"")

    def _lines(self, count: int) -> list[str]:
        """Read as many answers of a line each."""
        while self._unread.count(b"\r\n", self._place) < count:
            if len(self._unread) - self._place > LONGEST_LINE * count:
                raise ProtocolError("the server sent a line without an end")
            self._receive()
        *lines, rest = self._unread[self._place :].decode("ascii", "replace").split("\r\n", count)
        # One character for each byte.
        del self._unread[: len(self._unread) - len(rest)]
        self._place = 0
        for word, line in {line.partition(" ")[0]: line for line in lines}.items():
            _check_word(word, line)
        return lines

    def _line(self) -> bytes:
        while (end := self._unread.find(b"\r\n", self._place)) < 0:
            if len(self._unread) - self._place > LONGEST_LINE:
                raise ProtocolError("the server sent a line without an end")
            self._receive()
        return self._taken(end)

    def _body(self, size: int) -> bytes:
        while len(self._unread) < self._place + size + 2:
            self._receive()
        return self._taken(self._place + size)

    def _taken(self, end: int) -> bytes:
        """Remove and return the bytes up to a position, and the end of line after them."""
        text = bytes(self._unread[self._place : end])
        self._place = end + 2
        if self._place >= len(self._unread):
            self._unread.clear()
            self._place = 0
        return text

    def _receive(self) -> None:
        self._socket.settimeout(self._left())
        received = self._socket.recv(65_536)
        if not received:
            raise ConnectionError("the server closed the connection")
        self._unread += received

    def close(self) -> None:
        """Close the connection; the server takes back the reserved jobs."""
        self._socket.close()

    def __del__(self) -> None:
        # Absent if connecting failed. A thread that ends closes its connection.
        if hasattr(self, "_socket"):
            self.close()


class Line:
    """A connection that is made when it is first needed, and again after it was lost."""

    def __init__(self, connect: Callable[[float], Wire]) -> None:
        """Begin without a connection; one is made for a call that has waited some seconds."""
        self._connect = connect
        self._lock = Lock()
        self._wire: Wire | None = None

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, as far as this process knows."""
        return self._wire is not None

    @contextmanager
    def connected(self, *, within: float) -> Iterator[Wire]:
        """Lend the connection to one thread; any error inside the block closes it.

        Args:
            within: for how many seconds to wait for other threads to finish with the connection.
        """
        began = _CLOCK.elapsed()
        if not self._lock.acquire(timeout=within):
            raise TimeoutError(f"another call has waited for the server for {within:g} s")
        try:
            self._ready(waited=_CLOCK.elapsed() - began)
            assert self._wire is not None  # noqa: S101 - it was just made
            yield self._wire
        except BaseException:
            self._drop()
            raise
        finally:
            self._lock.release()

    def _ready(self, *, waited: float) -> None:
        """Make sure of a connection that is alive, as far as this process knows."""
        if self._wire is not None and self._wire.is_stale():
            self._drop()
        if self._wire is None:
            self._wire = self._connect(waited)
        self._wire.renew(waited=waited)

    def hang_up(self) -> None:
        """Close the connection as soon as no thread uses it."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._wire is not None:
            self._wire.close()
        self._wire = None


def _check_word(word: str, line: str) -> None:
    if word in _MISTAKES or not word:
        raise ProtocolError(f"the server did not understand, and said {line!r}")


@contextmanager
def _closed_on_error(opened: socket.socket) -> Iterator[None]:
    try:
        yield
    except OSError:
        opened.close()
        raise
