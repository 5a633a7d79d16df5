"""The line between a worker and its heartbeat process: a socket, and an instant that both can read.

The instant of the last renewal lies in memory that both processes share. A worker whose interpreter
was held for an hour learns at once that its session is alive, whatever the socket holds unread.

Jobs may fork. A child that inherited the worker's end would keep the socket open after the death of
the worker, and could write to it. So every process that Python forks from a worker closes that end;
a process that is executed does not inherit it. The heartbeat process does not rely on that: it also
watches the worker by its pid.
"""

import os
import select
import struct
from contextlib import suppress
from mmap import mmap
from multiprocessing.connection import Connection, Pipe, wait
from weakref import WeakSet

from sempre.forking import watch_process

__all__ = ["Line", "WorkerEnd", "new_line"]

_INSTANT = struct.Struct("d")
NEVER = float("-inf")


class Line:
    """The end of the heartbeat process, which watches the worker as well.

    Args:
        worker: the pid of the worker, which is the parent of this process.
        socket: this end of the socket.
        memory: shared with the worker.
    """

    def __init__(self, worker: int, socket: Connection, memory: mmap) -> None:
        self.worker = worker
        self._socket = socket
        self._memory = memory
        self._watch = watch_process(worker)
        self._has_ended = False

    @property
    def has_worker(self) -> bool:
        """Whether the worker lives; without a pidfd, this process has another parent if not."""
        return not self._has_ended and os.getppid() == self.worker

    def wait_for_message(self, seconds: float) -> bool:
        """Wait for a message, or for the end of the worker; True if there is one to `receive`."""
        watched: list[Connection | int] = [self._socket]
        if self._watch is not None:
            watched.append(self._watch)
        ready = wait(watched, seconds)
        self._has_ended = self._watch in ready
        return self._socket in ready

    def receive(self) -> bytes:
        """Return a message; EOFError or OSError if the worker has closed its end."""
        return self._socket.recv_bytes()

    def send(self, message: bytes) -> None:
        """Send a message that the worker waits for."""
        self._socket.send_bytes(message)

    def send_if_room(self, message: bytes) -> None:
        """Send a message unless the worker has left too many unread.

        A job may hold the interpreter of the worker for hours; the heartbeat must not wait for it.
        """
        if select.select([], [self._socket], [], 0)[1]:
            self._socket.send_bytes(message)

    def note_renewal(self, at: float) -> None:
        """Let the worker know when its session was last renewed, by the steady clock."""
        _INSTANT.pack_into(self._memory, 0, at)


class WorkerEnd:
    """The end of the worker; closed in every process that the worker forks."""

    def __init__(self, socket: Connection, memory: mmap) -> None:
        """Speak through a socket, and read shared memory."""
        self.socket = socket
        self._memory = memory
        _WORKERS.add(socket)

    @property
    def renewed_at(self) -> float:
        """When the session was last renewed, by the steady clock; minus infinity before that."""
        found: float = _INSTANT.unpack_from(self._memory)[0]
        return found

    def close(self) -> None:
        """Let the heartbeat process end, which has no session."""
        self.socket.close()

    def forget_renewal(self) -> None:
        """Count the session as over."""
        _INSTANT.pack_into(self._memory, 0, NEVER)


def new_line() -> tuple[Connection, Connection, mmap]:
    """Return both ends of a socket, and memory that will be shared with a forked process."""
    memory = mmap(-1, _INSTANT.size)
    _INSTANT.pack_into(memory, 0, NEVER)
    return *Pipe(), memory


_WORKERS: WeakSet[Connection] = WeakSet()


def _close_in_child() -> None:
    for socket in list(_WORKERS):
        with suppress(OSError):
            socket.close()


os.register_at_fork(after_in_child=_close_in_child)
