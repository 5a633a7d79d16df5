"""Unreadable rows: each is reported once by a process, however often it is read."""

from collections.abc import Iterable
from threading import Lock

from sempre.domain.unreadable import Unreadable
from sempre.engine.events import Events, Happened

__all__ = ["UnreadRows"]

MOST = 10_000


class UnreadRows:
    """The rows that were reported; beyond `MOST` the oldest is forgotten, and reported again."""

    def __init__(self, events: Events) -> None:
        """Begin without a row."""
        self._events = events
        self._reported: dict[tuple[str, str], None] = {}
        self._lock = Lock()

    def report(self, rows: Iterable[Unreadable]) -> None:
        """Report rows that are new to this process; callable from any thread."""
        for row in rows:
            if self._is_new((row.table, row.id)):
                facts = {"row": row, "schedule": row.name, "error": str(row)}
                self._events.emit(Happened.UNREADABLE, **facts)

    def _is_new(self, key: tuple[str, str]) -> bool:
        with self._lock:
            if key in self._reported:
                return False
            if len(self._reported) >= MOST:
                del self._reported[next(iter(self._reported))]
            self._reported[key] = None
            return True
