"""The reader of a store's health: what every query of one check-up shares."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from sempre.config import Settings
from sempre.domain.schedule import Schedule
from sempre.domain.unreadable import Unreadable
from sempre.engine.core import Engine
from sempre.ports.messages import Reading, ScheduleQuery
from sempre.ports.pages import walk_pages
from sempre.ports.store import Store

__all__ = ["Reader"]

T = TypeVar("T")
PAGE = 1_000


@dataclass(frozen=True)
class Reader:
    """Reads a store for one check-up.

    Attributes:
        engine: the engine of the store.
        unread: rows that queries returned and this process cannot read.
    """

    engine: Engine
    unread: list[Unreadable] = field(default_factory=list)

    @property
    def store(self) -> Store:
        """The store."""
        return self.engine.store

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        return self.engine.settings

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        return self.engine.time.now()

    def read(self, reading: Reading[T]) -> T:
        """Return the value of a reading, and keep the rows that it leaves out."""
        self.unread.extend(reading.unreadable)
        return self.engine.read(reading)

    def schedules(self, *, text: str = "") -> Iterator[Schedule]:
        """Return an iterator of the schedules with a text in their name, by name."""
        query = ScheduleQuery(text=text, limit=PAGE)
        return walk_pages(
            lambda after: self.read(self.store.schedules(replace(query, after=after)))
        )
