"""The part of a store's port that measures the store: how much it holds, and whether it changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sempre.ports.messages import Reading

__all__ = ["MOST_COUNTED", "MOST_RUNNING", "Activity", "Measures", "Volume"]

MOST_COUNTED = 1_000_000
"""A store counts no further: this number means that there are so many rows, or more."""
MOST_RUNNING = 1_000
"""The running executions that a reading of activity looks at."""


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


@dataclass(frozen=True)
class Activity:
    """A mark of what executions do: two equal marks mean that nothing was done in between.

    Attributes:
        mark: a text of the store's own; other after an execution was created, started or ended,
            or failed and waits for its retry.
        running: the number of running executions, up to a thousand.
    """

    mark: str
    running: int


class Measures(Protocol):
    """How a store tells its size, and that it changes."""

    def volume(self) -> Volume:
        """Return how much the store holds; the cost is bounded, since counts end at a number."""
        ...

    def activity(self) -> Reading[Activity]:
        """Return the mark of what executions do now.

        The cost is a few probes of indexes, whatever the store holds: dashboards ask every other
        second. With more than a thousand running executions a change among the others may show
        only when one ends or is created.
        """
        ...
