"""The part of a store's port that measures the store."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

__all__ = ["Measures", "Volume"]


@dataclass(frozen=True)
class Volume:
    """How much a store holds.

    Attributes:
        version: the version of the schema.
        rows: the number of schedules, deleted ones included, and of executions; other tables of the
            store as far as it counts them.
        estimated: whether the numbers are the estimates of a database.
        first_end: when the first execution ended that is on record; None without any.
        last_end: when the last one ended that is on record.
    """

    version: int
    rows: Mapping[str, int]
    estimated: bool
    first_end: datetime | None
    last_end: datetime | None


class Measures(Protocol):
    """How a store tells its size."""

    def volume(self) -> Volume:
        """Return how much the store holds, without reading every row."""
        ...
