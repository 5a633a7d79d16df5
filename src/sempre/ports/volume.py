"""The part of a store's port that measures the store."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

__all__ = ["MOST_COUNTED", "Measures", "Volume"]

MOST_COUNTED = 1_000_000
"""A store counts no further: this number means that there are so many rows, or more."""


@dataclass(frozen=True)
class Volume:
    """How much a store holds.

    Attributes:
        version: the version of the schema; 0 for a store without one.
        schedules: the number of schedules that are not deleted.
        executions: the number of executions in any state.
        ranges: the number of ranges of slots that passed without an execution.
        first_end: when the first execution ended that is on record; None without any.
        last_end: when the last one ended.
    """

    version: int
    schedules: int
    executions: int
    ranges: int
    first_end: datetime | None
    last_end: datetime | None


class Measures(Protocol):
    """How a store tells its size."""

    def volume(self) -> Volume:
        """Return how much the store holds; the cost is bounded, since counts end at a number."""
        ...
