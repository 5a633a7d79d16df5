"""Waiting that another thread can end, also while a socket is being waited for."""

import selectors
import socket
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from threading import RLock, local
from typing import Protocol
from weakref import WeakSet

__all__ = ["Ending", "Readable", "Selector", "Waker", "can_read"]

# Poll accepts any descriptor number, and needs no descriptor of its own.
Selector: type[selectors.BaseSelector] = getattr(
    selectors, "PollSelector", selectors.SelectSelector
)


class Ending(Enum):
    """Why a wait has ended."""

    TIME = "time"
    WOKEN = "woken"
    READABLE = "readable"


class Readable(Protocol):
    """An object with a descriptor, to wait for besides wake-ups."""

    def fileno(self) -> int:
        """Return the file descriptor."""
        ...


def can_read(readable: Readable) -> bool:
    """Return, without waiting, whether there is something to read, or the end of file."""
    with Selector() as selector:
        selector.register(readable, selectors.EVENT_READ)
        return bool(selector.select(0))


class Waker:
    """Ends the waits of all threads; for a thread that does not wait now, its next wait.

    A waker belongs to one process: a forked child would wake its parent.
    """

    def __init__(self) -> None:
        """Begin with no thread waiting."""
        # Re-entrant: a signal handler may call `wake` while its thread is inside of `wake`.
        self._lock = RLock()
        self._pipes: WeakSet[_WakePipe] = WeakSet()
        self._thread = local()
        self._was_woken = False

    def wake(self) -> None:
        """End every wait."""
        with self._lock:
            self._was_woken = True
            for pipe in list(self._pipes):
                pipe.wake()

    def wait(self, seconds: float, *sockets: Readable) -> Ending:
        """Wait until woken, until a socket is readable, or until the seconds have passed.

        If a socket is readable and a wake-up has come, the socket wins; the wake-up ends the next
        wait.
        """
        pipe = self._pipe()
        with Selector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            for each in sockets:
                selector.register(each, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(max(seconds, 0.0))]
        if any(each is not pipe for each in ready):
            return Ending.READABLE
        return Ending.WOKEN if ready and pipe.clear() else Ending.TIME

    def is_woken(self) -> bool:
        """Return, without waiting, whether this thread was woken since its last wait."""
        return self._pipe().clear()

    def _pipe(self) -> "_WakePipe":
        known: _WakePipe | None = getattr(self._thread, "pipe", None)
        if known is None:
            with self._lock:
                known = self._thread.pipe = _WakePipe()
                self._pipes.add(known)
                if self._was_woken:
                    known.wake()
        return known


class _WakePipe:
    """The pair of sockets of one thread: a byte written to one wakes the reader of the other."""

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()
        self._reading.settimeout(0)
        self._writing.settimeout(0)

    def fileno(self) -> int:
        return self._reading.fileno()

    def wake(self) -> None:
        # A full buffer wakes as well; a closed pipe belongs to a thread that is ending.
        with suppress(OSError):
            self._writing.send(b"!")

    def clear(self) -> bool:
        """Discard all wake-ups; return whether there was one."""
        return any([*self._wake_ups()])

    def _wake_ups(self) -> Iterator[bytes]:
        with suppress(BlockingIOError):
            while True:
                yield self._reading.recv(4096)

    def __del__(self) -> None:
        self._reading.close()
        self._writing.close()
