"""The specification of a worker: its jobs, its queues and how many jobs it runs at a time."""

from collections.abc import Mapping
from dataclasses import dataclass

from sempre.config import Settings
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.ports.executor import Run, Task
from sempre.ports.messages import Wanted

__all__ = ["WorkerSpec"]


@dataclass(frozen=True)
class WorkerSpec:
    """What a worker runs.

    Attributes:
        tasks: by the name of the job.
        queues: the queues that the worker serves.
        hands: how many jobs run at a time.
    """

    tasks: Mapping[str, Task]
    queues: frozenset[str]
    hands: int = 8

    @property
    def wanted(self) -> Wanted:
        """The work that the worker claims."""
        return Wanted(self.queues, frozenset(self.tasks), self.hands)

    def run(self, execution: Execution, schedule: Schedule | None, settings: Settings) -> Run:
        """Return the run of a claim."""
        timeout = execution.snapshot.timeout or settings.timeout
        return Run(execution, self.tasks[execution.snapshot.job], timeout, schedule)
