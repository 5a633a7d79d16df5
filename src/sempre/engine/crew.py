"""A crew: what a worker is made of."""

from collections.abc import Mapping
from dataclasses import dataclass

from sempre.ports.executor import Task
from sempre.ports.messages import Wanted

__all__ = ["Crew"]


@dataclass(frozen=True)
class Crew:
    """What a worker is: its jobs, queues and number of hands."""

    tasks: Mapping[str, Task]
    queues: frozenset[str]
    hands: int = 8

    @property
    def wanted(self) -> Wanted:
        """The work it can do."""
        return Wanted(self.queues, frozenset(self.tasks), self.hands)
