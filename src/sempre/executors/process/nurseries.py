"""The worker's side of its nurseries: the one in use, and the one that takes over if it dies.

A process with threads must not fork, so the worker forks once, at its start. A nursery can breed
another one, as it has no threads: there are always two, and either can restore the other. Only
when both die at the same moment are there no children any more, until the worker is restarted.
"""

import gc
import os
import signal
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from sempre.errors import Refused
from sempre.executors.process.child import Births
from sempre.executors.process.descriptors import cut
from sempre.executors.process.limits import Limits
from sempre.executors.process.nursery import Nursery
from sempre.executors.process.orders import BREED, Orders, order
from sempre.executors.process.system import thread_count, watch_process

__all__ = ["Handle", "Nurseries"]


class Handle:
    """One nursery, as the worker sees it.

    Attributes:
        control: the socket to it.
        orders: what it has told.
        pid: set for the one that is a child of this process.
        is_ready: whether it has said so.
    """

    def __init__(self, control: socket.socket, pid: int | None = None) -> None:
        self.control = control
        self.orders = Orders()
        self.pid = pid
        self.is_ready = False
        self._lock = Lock()

    def send(self, raw: bytes, descriptor: int | None = None) -> None:
        """Send a message whole; OSError if the nursery is gone."""
        descriptors = [] if descriptor is None else [descriptor]
        with self._lock:
            sent = socket.send_fds(self.control, [raw], descriptors)
            if sent < len(raw):
                self.control.sendall(raw[sent:])

    def hang_up(self) -> None:
        """Let the nursery know that it is to end; it closes its side when it has."""
        with suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Give back what belongs to a nursery that is gone."""
        with self._lock:
            # Not while somebody sends: the descriptor may be another one's a moment later.
            self.control.close()
        if self.pid is not None:
            # Our own child, not reaped yet: the pid is still its own.
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(self.pid, 0)


class Nurseries:
    """Forks the first nursery, and keeps a second one at hand.

    Attributes:
        active: the one that takes runs; None if there is none left.
        spare: the one that waits.
    """

    def __init__(self, births: Births, limits: Limits, private: Collection[int] = ()) -> None:
        """Make none yet; `private` are descriptors of this process that none of them may have."""
        self._births = births
        self._private = private
        self._limits = limits
        self.active: Handle | None = None
        self.spare: Handle | None = None

    def start(self) -> Handle:
        """Fork the first nursery.

        Raises:
            Refused: this process has threads already, any of which might hold a lock that no
                child could ever take.
        """
        if (count := thread_count()) > 1:
            raise Refused(
                f"this process has {count} threads, and children can be forked only from one "
                "without: start the worker first, before anything that starts threads, or run "
                "it as a process of its own with `sempre worker`"
            )
        ours, theirs = socket.socketpair()
        worker = os.getpid()
        with _collector_at_rest():
            pid = os.fork()
            if pid == 0:
                ours.close()
                cut(self._private)
                lifeline = watch_process(worker)
                if os.getppid() != worker:
                    os._exit(1)
                Nursery(theirs, self._births, self._limits, lifeline).serve()
        theirs.close()
        self.active = Handle(ours, pid)
        return self.active

    def breed(self) -> Handle | None:
        """Ask for a spare one, unless there is one; None if there is nobody to ask."""
        if self.active is None or self.spare is not None:
            return None
        ours, theirs = socket.socketpair()
        try:
            self.active.send(order(BREED), theirs.fileno())
        except OSError:
            # It is dying; whoever takes over will be asked.
            ours.close()
            return None
        finally:
            theirs.close()
        self.spare = Handle(ours)
        return self.spare

    def bury(self, handle: Handle) -> None:
        """Give back what a dead nursery had, and let the spare one take its place."""
        handle.close()
        if handle is self.spare:
            self.spare = None
        if handle is self.active:
            self.active, self.spare = self.spare, None

    def all(self) -> list[Handle]:
        """Return those that are alive, as far as we know."""
        return [handle for handle in (self.active, self.spare) if handle is not None]


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Hide all objects from the garbage collector meanwhile; what is forked keeps them hidden.

    The collector of a nursery or child would write to, and so copy, every page that it looks at.
    """
    gc.collect()
    is_ours = gc.get_freeze_count() == 0
    gc.freeze()
    try:
        yield
    finally:
        if is_ours:
            gc.unfreeze()
