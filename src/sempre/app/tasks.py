"""Tasks: a user's function with its name, isolation and limits, as a worker runs it."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from sempre.app.jobs import is_async as is_async_function
from sempre.config import Settings
from sempre.domain.redaction import read_redact
from sempre.errors import ArgumentsError, PolicyError
from sempre.ports.executor import Isolation, Task

__all__ = ["place_of", "read_memory", "read_task"]

UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def read_task(
    function: Callable[..., Any], *, name: str, options: Mapping[str, Any], settings: Settings
) -> Task:
    """Return the task of a function from the options that a user wrote and the settings."""
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
    limits = settings.result_limit, settings.log_rule
    return Task(name, function, isolation, memory, redact, *limits)


def read_memory(value: object) -> int | None:
    """Return a size in bytes from a number or a text such as "512MB"."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value if isinstance(value, int) else None
    text = value.strip().upper().replace(" ", "") if isinstance(value, str) else ""
    digits = text.rstrip("KMGB")
    unit = UNITS.get(text[len(digits) :])
    # ASCII digits only: int() refuses some other digits and accepts the rest.
    if re.fullmatch("[0-9]{1,18}", digits) and int(digits) and unit:
        return int(digits) * unit
    raise PolicyError("memory", value, allowed='bytes, or a text such as "512MB"')


def place_of(function: Callable[..., Any]) -> str:
    """Return the module and the qualified name of a function."""
    return f"{function.__module__}.{function.__qualname__}"


def _refuse_generator(function: Callable[..., Any]) -> None:
    """Refuse a generator function: a call of it runs nothing of its body."""
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        hint = "The body of a generator would never run: return a list, or loop inside of the job."
        allowed = "a function that returns"
        raise ArgumentsError("job", place_of(function), allowed=allowed, hint=hint)
