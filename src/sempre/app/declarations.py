"""Declarations: the jobs and schedules that an application's code states."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sempre.app.schedules.creation import Declared
from sempre.app.schedules.deploy import Deploy, Synced
from sempre.app.tasks import place_of
from sempre.domain.job_policy import JobPolicy
from sempre.domain.names import check_name
from sempre.engine.core import Engine
from sempre.errors import NamingError
from sempre.ports.executor import Task

__all__ = ["Declarations"]


@dataclass
class Declarations:
    """The jobs and schedules that an application's code declares, by name.

    Attributes:
        tasks: the functions of the jobs.
        policies: how the runs of the jobs behave.
        schedules: the schedules.
        done: for jobs with a pair: whether the work of given arguments is no longer needed.
    """

    tasks: dict[str, Task] = field(default_factory=dict)
    policies: dict[str, JobPolicy] = field(default_factory=dict)
    schedules: dict[str, Declared] = field(default_factory=dict)
    done: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def queues(self) -> frozenset[str]:
        """The queues of every job and schedule, and `default`."""
        jobs = {each.queue for each in self.policies.values()}
        schedules = {each.definition.queue for each in self.schedules.values()}
        return frozenset({"default", *jobs, *schedules})

    @property
    def tags(self) -> frozenset[str]:
        """The tags of every job and schedule."""
        of_jobs = (each.tags for each in self.policies.values())
        of_schedules = (each.definition.tags for each in self.schedules.values())
        return frozenset(tag for tags in (*of_schedules, *of_jobs) for tag in tags)

    def add_task(self, task: Task, policy: JobPolicy | None = None) -> None:
        """Register a job; a second function under the same name is refused."""
        known = self.tasks.get(check_name("job", task.name))
        if known is not None and known.function is not task.function:
            allowed = "a name that no other job has"
            hint = f"{place_of(known.function)} has it already: pass name=."
            raise NamingError("job", task.name, allowed=allowed, hint=hint)
        self.tasks[task.name] = task
        self.policies[task.name] = policy or JobPolicy()

    def add_schedule(self, declared: Declared) -> None:
        """Declare a schedule; a second one under the same name is refused."""
        if declared.name in self.schedules:
            allowed = "a name that no other schedule has"
            raise NamingError("schedule", declared.name, allowed=allowed, hint="Pass name=.")
        self.schedules[declared.name] = declared

    def sync(self, engine: Engine) -> Synced:
        """Bring the store of an engine to the declared schedules; return what changed."""
        return Deploy(engine, self.schedules, self.tasks).carry_out()
