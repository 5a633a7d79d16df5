"""Declaring: jobs and schedules as code states them, and bringing the store to them at start."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sempre.app.creating import Declared
from sempre.app.deploying import Deploy, Synced
from sempre.app.jobs import is_async as is_async_function
from sempre.config import Settings
from sempre.domain.names import check_name
from sempre.domain.redaction import read_redact
from sempre.domain.work import WorkPolicy
from sempre.engine.core import Engine
from sempre.errors import ArgumentsError, NamingError, PolicyError
from sempre.ports.executor import Isolation, Task

__all__ = ["Declarations", "read_memory", "task_of"]

UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


@dataclass
class Declarations:
    """The jobs and schedules that an application's code declares."""

    tasks: dict[str, Task] = field(default_factory=dict)
    policies: dict[str, WorkPolicy] = field(default_factory=dict)
    schedules: dict[str, Declared] = field(default_factory=dict)
    done: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def queues(self) -> frozenset[str]:
        """The queues of every job and schedule, and `default`."""
        jobs = {each.queue for each in self.policies.values()}
        schedules = {each.definition.queue for each in self.schedules.values()}
        return frozenset({"default", *jobs, *schedules})

    def add_task(self, task: Task, policy: WorkPolicy | None = None) -> None:
        """Register a job; a second function under the same name is refused."""
        known = self.tasks.get(check_name("job", task.name))
        if known is not None and known.function is not task.function:
            allowed = "a name that no other job has"
            hint = f"{_place(known.function)} has it already: pass name=."
            raise NamingError("job", task.name, allowed=allowed, hint=hint)
        self.tasks[task.name] = task
        self.policies[task.name] = policy or WorkPolicy()

    def add_schedule(self, declared: Declared) -> None:
        """Declare a schedule; a second one under the same name is refused."""
        if declared.name in self.schedules:
            allowed = "a name that no other schedule has"
            raise NamingError("schedule", declared.name, allowed=allowed, hint="Pass name=.")
        self.schedules[declared.name] = declared

    def sync(self, engine: Engine) -> Synced:
        """Bring the store to what the code declares, where that has changed; say what was done."""
        return Deploy(engine, self.schedules, self.tasks).carry_out()


def task_of(
    function: Callable[..., Any], *, name: str, options: Mapping[str, Any], settings: Settings
) -> Task:
    """Return a task from what a user wrote, and what the settings say of every job."""
    _refuse_generator(function)
    is_async = is_async_function(function)
    isolation: Isolation = options.get("isolation", "async" if is_async else "thread")
    if isolation not in ("thread", "async", "process"):
        raise PolicyError("isolation", isolation, allowed="thread, async or process")
    if isolation == "async" and not is_async:
        allowed = "thread or process for a def; async is for an async def"
        raise PolicyError("isolation", isolation, allowed=allowed)
    redact = (*settings.redact, *read_redact(options.get("redact", ())))
    memory = read_memory(options.get("memory"))
    if memory is not None and isolation != "process":
        raise PolicyError("memory", memory, allowed='a limit only with isolation="process"')
    return Task(name, function, isolation, memory, redact, settings.result_limit)


def _refuse_generator(function: Callable[..., Any]) -> None:
    """Refuse a function whose call runs nothing of its body."""
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        hint = "The body of a generator would never run: return a list, or loop inside of the job."
        allowed = "a function that returns"
        raise ArgumentsError("job", _place(function), allowed=allowed, hint=hint)


def read_memory(value: object) -> int | None:
    """Return a size in bytes from a number or a text such as "512MB"."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value if isinstance(value, int) else None
    text = value.strip().upper().replace(" ", "") if isinstance(value, str) else ""
    digits = text.rstrip("KMGB")
    unit = UNITS.get(text[len(digits) :])
    # Not any digit: there are some that are no numbers, and numbers that are no amounts.
    if re.fullmatch("[0-9]{1,18}", digits) and int(digits) and unit:
        return int(digits) * unit
    raise PolicyError("memory", value, allowed='bytes, or a text such as "512MB"')


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
