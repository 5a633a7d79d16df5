"""The fork server as its worker sees it: a process, and the socket to it.

A process with threads must not fork, so a worker forks once, before its first thread. A worker
whose fork server has died cannot start another one: the supervisor replaces the worker.
"""

import gc
import os
import signal
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from sempre.errors import Refused
from sempre.executors.process.child_main import ChildMain
from sempre.executors.process.descriptors import disconnect
from sempre.executors.process.fork_server import ForkServer
from sempre.executors.process.system import thread_count
from sempre.executors.process.time_limits import TimeLimits
from sempre.forking import watch_process

__all__ = ["ServerProcess", "start_server"]


class ServerProcess:
    """A running fork server, which is a child process of the worker.

    Attributes:
        control: the socket to the fork server; messages of the fork server arrive here.
        is_running: whether the fork server has not been reaped.
    """

    def __init__(self, control: socket.socket, pid: int) -> None:
        self.control = control
        self.is_running = True
        self._pid = pid
        self._lock = Lock()

    def send(self, raw: bytes, descriptor: int | None = None) -> None:
        """Send a message whole; OSError if the fork server has died."""
        descriptors = [] if descriptor is None else [descriptor]
        with self._lock:
            sent = socket.send_fds(self.control, [raw], descriptors)
            if sent < len(raw):
                self.control.sendall(raw[sent:])

    def hang_up(self) -> None:
        """Ask the fork server to end; it closes its end of the socket after its children."""
        with suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)

    def reap(self) -> None:
        """Close the socket to a fork server that has ended, and reap the process."""
        self.is_running = False
        with self._lock:
            # Not while another thread sends: the number may belong to another file right after.
            self.control.close()
        # An unreaped child of ours: the pid is still its own.
        with suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._pid, 0)


def start_server(
    child_main: ChildMain, limits: TimeLimits, private: Collection[int] = ()
) -> ServerProcess:
    """Fork the fork server; `private` are descriptors of this process that no child may have.

    Raises:
        Refused: this process has threads already, any of which might hold a lock that no child
            could ever acquire.
    """
    if (count := thread_count()) > 1:
        raise Refused(
            f"this process has {count} threads, and children can be forked only from one "
            "without: start the worker first, before anything that starts threads, or run "
            "it as a process of its own with `sempre worker`"
        )
    control, server_end = socket.socketpair()
    worker = os.getpid()
    with _frozen_heap():
        pid = os.fork()
        if pid == 0:
            control.close()
            disconnect(private)
            worker_exit = watch_process(worker)
            if os.getppid() != worker:
                os._exit(1)
            ForkServer(server_end, child_main, limits, worker_exit).serve()
    server_end.close()
    return ServerProcess(control, pid)


@contextmanager
def _frozen_heap() -> Iterator[None]:
    """Hide all objects from the garbage collector in a block; a fork in it keeps them hidden.

    The collector of the fork server or a child would write to, and so copy, every page it visits.
    """
    gc.collect()
    was_frozen = gc.get_freeze_count() > 0
    gc.freeze()
    try:
        yield
    finally:
        if not was_frozen:
            gc.unfreeze()
