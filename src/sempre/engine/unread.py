"""Rows that this process cannot read are told of once each, however often they are met."""

from collections.abc import Iterable
from threading import Lock

from sempre.domain.unreadable import Unreadable
from sempre.engine.events import Events, Happened

__all__ = ["UnreadRows"]

MOST = 10_000


class UnreadRows:
    """Which rows were told of; of very many the oldest are forgotten, and told of again."""

    def __init__(self, events: Events) -> None:
        """Begin with none."""
        self._events = events
        self._told: dict[tuple[str, str], None] = {}
        self._lock = Lock()

    def report(self, rows: Iterable[Unreadable]) -> None:
        """Tell of those that are new to this process; callable from any thread."""
        for row in rows:
            if self._is_new((row.table, row.id)):
                facts = {"row": row, "schedule": row.name, "error": str(row)}
                self._events.emit(Happened.UNREADABLE, **facts)

    def _is_new(self, key: tuple[str, str]) -> bool:
        with self._lock:
            if key in self._told:
                return False
            if len(self._told) >= MOST:
                del self._told[next(iter(self._told))]
            self._told[key] = None
            return True
