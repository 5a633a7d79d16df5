"""What a process must not share with its forked children: sockets, locks, pipes."""

import os
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerProcess"]

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Something that each process makes for itself.

    What a parent made is kept but not used in its child: collecting it could tell the server
    that the parent has gone. Two threads that are a child's first may each make one; that is
    harmless, the earlier one is only used once.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Make the first one."""
        self._make = make
        self._left: list[T] = []
        self._pid = os.getpid()
        self._own = make()

    def get(self) -> T:
        """Return what this process has made."""
        if self._pid != os.getpid():
            self._left.append(self._own)
            self._own = self._make()
            self._pid = os.getpid()
        return self._own
