"""Resources that a process must not share with its forked children: sockets, locks, pools, pipes.

A child uses none of its parent's resources, and never collects them: a destructor could tell the
server that the parent has gone, or wait for a lock that a thread of the parent held at the fork.
"""

import os
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerProcess", "keep_uncollected", "watch_process"]

T = TypeVar("T")
_LEFT_BY_PARENTS: list[object] = []


def keep_uncollected(resource: object) -> None:
    """Keep a resource of the parent process for as long as this child lives."""
    _LEFT_BY_PARENTS.append(resource)


def watch_process(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process ends; None if there is none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


class PerProcess(Generic[T]):
    """A resource that each process makes for itself.

    Two threads that are the first of a child may each make one; the extra one is used once.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Make the resource of this process."""
        self._make = make
        self._pid = os.getpid()
        self._own = make()

    def get(self) -> T:
        """Return the resource of this process."""
        if self._pid != os.getpid():
            keep_uncollected(self._own)
            self._own = self._make()
            self._pid = os.getpid()
        return self._own
