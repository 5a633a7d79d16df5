"""Declaring: jobs and schedules as code states them, and bringing the store to them at start."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sempre.app.creating import Declared
from sempre.app.schedules import ScheduleHandle, Schedules
from sempre.domain.declaration import plan_declare
from sempre.domain.names import check_name
from sempre.domain.planning import Moment, Plan
from sempre.domain.work import WorkPolicy
from sempre.engine.core import Engine
from sempre.errors import NamingError, PolicyError
from sempre.ports.executor import Isolation, Task

__all__ = ["Declarations", "Synced", "read_memory", "task_of"]

UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


@dataclass(frozen=True)
class Synced:
    """What a sync did, by name of schedule."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    """In the store by the same owner's declaration, no longer in the code, and left alone."""


@dataclass
class Declarations:
    """The jobs and schedules that an application's code declares."""

    tasks: dict[str, Task] = field(default_factory=dict)
    policies: dict[str, WorkPolicy] = field(default_factory=dict)
    schedules: dict[str, Declared] = field(default_factory=dict)
    done: dict[str, Callable[..., Any]] = field(default_factory=dict)

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
        created = self._create_missing(engine)
        rest = [each for each in self.schedules.values() if each.name not in created]
        edited = [each.name for each in rest if _declare(engine, each)]
        disabled = self._disable_gone(engine) if engine.settings.owner else []
        return Synced(tuple(created), tuple(edited), tuple(disabled))

    def _create_missing(self, engine: Engine) -> list[str]:
        wanted = list(self.schedules.values())
        known = {view.schedule.name for view in engine.store.views(list(self.schedules)).value}
        missing = [each for each in wanted if each.name not in known]
        made = Schedules(engine, actor="code").create_many(missing, release=engine.settings.release)
        return [each.name for each, done in zip(missing, made, strict=True) if done]

    def _disable_gone(self, engine: Engine) -> list[str]:
        """Disable what our owner declared once and declares no more."""
        gone = []
        for schedule in Schedules(engine):
            declared = schedule.definition
            ours = declared.owner == engine.settings.owner and schedule.declared
            if ours and declared.enabled and schedule.name not in self.schedules:
                ScheduleHandle(engine, schedule.name, actor="code").disable()
                gone.append(schedule.name)
        return gone


def _declare(engine: Engine, declared: Declared) -> bool:
    """Apply what has changed of one declaration; False if nothing has."""

    def plan() -> Plan | None:
        reading = engine.store.views([declared.name])
        views = engine.read(reading)
        if not views:
            return None
        view, moment = views[0], Moment(reading.now, engine.tzdata)
        release = engine.settings.release
        return plan_declare(
            view.schedule, view.rows, moment, to=declared.definition, release=release
        )

    return engine.carry_out(plan) is not None


def task_of(
    function: Callable[..., Any], *, name: str, is_async: bool, options: Mapping[str, Any]
) -> Task:
    """Return a task from what a user wrote."""
    isolation: Isolation = options.get("isolation", "async" if is_async else "thread")
    if isolation not in ("thread", "async", "process"):
        raise PolicyError("isolation", isolation, allowed="thread, async or process")
    if isolation == "async" and not is_async:
        allowed = "thread or process for a def; async is for an async def"
        raise PolicyError("isolation", isolation, allowed=allowed)
    redact: Iterable[str] = options.get("redact", ())
    memory = read_memory(options.get("memory"))
    if memory is not None and isolation != "process":
        raise PolicyError("memory", memory, allowed='a limit only with isolation="process"')
    return Task(name, function, isolation, memory, tuple(redact))


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
