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

# Poll takes any number of a file and needs no file of its own.
Selector: type[selectors.BaseSelector] = getattr(
    selectors, "PollSelector", selectors.SelectSelector
)


class Ending(Enum):
    """Why a wait has ended."""

    TIME = "time"
    WOKEN = "woken"
    READABLE = "readable"


class Readable(Protocol):
    """What can be waited for besides a wake."""

    def fileno(self) -> int:
        """Return the file descriptor."""
        ...


def can_read(readable: Readable) -> bool:
    """Tell, without waiting, whether something can be read or has come to its end."""
    with Selector() as selector:
        selector.register(readable, selectors.EVENT_READ)
        return bool(selector.select(0))


class Waker:
    """Ends the waits of all threads, and of each that does not wait now, the next one.

    It belongs to one process: a forked child would wake its parent.
    """

    def __init__(self) -> None:
        """Begin with no thread waiting."""
        # Re-entrant, so that a signal handler may wake whatever it has interrupted.
        self._lock = RLock()
        self._ears: WeakSet[_Ear] = WeakSet()
        self._thread = local()
        self._was_woken = False

    def wake(self) -> None:
        """End every wait."""
        with self._lock:
            self._was_woken = True
            for ear in list(self._ears):
                ear.ring()

    def wait(self, seconds: float, *sockets: Readable) -> Ending:
        """Wait until woken, until a socket can be read, or for so many seconds.

        Where two of these are true the socket comes first, and the wake ends the next wait.
        """
        ear = self._ear()
        with Selector() as selector:
            selector.register(ear, selectors.EVENT_READ)
            for each in sockets:
                selector.register(each, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(max(seconds, 0.0))]
        if any(each is not ear for each in ready):
            return Ending.READABLE
        return Ending.WOKEN if ready and ear.clear() else Ending.TIME

    def is_woken(self) -> bool:
        """Tell, without waiting, whether this thread was woken since it last waited or asked."""
        return self._ear().clear()

    def _ear(self) -> "_Ear":
        known: _Ear | None = getattr(self._thread, "ear", None)
        if known is None:
            with self._lock:
                known = self._thread.ear = _Ear()
                self._ears.add(known)
                if self._was_woken:
                    known.ring()
        return known


class _Ear:
    """One thread's pair of sockets: what is written to one can be read from the other."""

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()
        self._reading.settimeout(0)
        self._writing.settimeout(0)

    def fileno(self) -> int:
        return self._reading.fileno()

    def ring(self) -> None:
        # Full is as good as rung; closed is an ear whose thread is just ending.
        with suppress(OSError):
            self._writing.send(b"!")

    def clear(self) -> bool:
        """Forget all rings; tell whether there was one."""
        return any([*self._rings()])

    def _rings(self) -> Iterator[bytes]:
        with suppress(BlockingIOError):
            while True:
                yield self._reading.recv(4096)

    def __del__(self) -> None:
        self._reading.close()
        self._writing.close()
