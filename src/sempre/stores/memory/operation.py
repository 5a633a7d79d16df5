"""The context of an operation: the lock of the memory store, its tables, and the time now."""

from datetime import datetime
from threading import RLock

from sempre.clock import Clock
from sempre.errors import StoreUnavailable
from sempre.stores.memory.tables import Tables

__all__ = ["Operation"]


class Operation:
    """The context of one operation; a nested operation is part of the outer one.

    Operation is a class: a generator would double the cost of a small operation.
    """

    def __init__(self, tables: Tables, clock: Clock) -> None:
        """Begin open."""
        self._tables = tables
        self._clock = clock
        self._lock = RLock()
        self.is_closed = False

    def __enter__(self) -> tuple[Tables, datetime]:
        if self.is_closed:
            raise StoreUnavailable("the memory store is closed; make another one.")
        self._lock.acquire()
        return self._tables, self._clock.now()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
