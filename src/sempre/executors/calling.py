"""One call of a job's function, wherever it happens, and its outcome.

Every executor calls here, so that a job gives the same outcome in a thread, on the loop and in a
child. An outcome is made of plain values only: it crosses from a child as JSON.
"""

import asyncio
import traceback
from collections.abc import Awaitable
from types import CoroutineType

from sempre.domain.redaction import kept_text
from sempre.domain.results import kept_result
from sempre.errors import RunCancelled, Skip
from sempre.executors.current import Current, running
from sempre.ports.executor import Ended, Outcome, Task

__all__ = ["LONGEST_ERROR", "cancelled", "failed", "perform", "perform_async"]

LONGEST_ERROR = 500


def perform(task: Task, run: Current) -> Outcome:
    """Call a function to its end in this thread; a coroutine gets a loop of its own.

    It never raises: SystemExit and KeyboardInterrupt are failures of the job like any other.
    """
    try:
        with running(run):
            value = task.function(**run.args)
            if isinstance(value, CoroutineType):
                value = asyncio.run(value)
        return _succeeded(value, task, run)
    except BaseException as error:  # noqa: BLE001 - whatever a job raises ends the job alone
        run.effects.drop()
        return failed(error, run, task.redact)


async def perform_async(task: Task, run: Current) -> Outcome:
    """Call a function on the running loop and wait for what it returns; it never raises.

    That it was cancelled is an outcome too, so that whoever asked for it can tell why.
    """
    try:
        with running(run):
            value = task.function(**run.args)
            if isinstance(value, Awaitable):
                value = await value
        return _succeeded(value, task, run)
    except asyncio.CancelledError as error:
        run.effects.drop()
        reason = run.link.reason
        return failed(error, run, task.redact) if reason is None else cancelled(reason)
    except BaseException as error:  # noqa: BLE001 - whatever a job raises ends the job alone
        run.effects.drop()
        return failed(error, run, task.redact)


def failed(error: BaseException, run: Current, patterns: tuple[str, ...] = ()) -> Outcome:
    """Report what a job raised; RunCancelled, if it was asked to end, is no failure."""
    reason = run.link.reason
    if isinstance(error, RunCancelled) and reason is not None:
        return cancelled(reason)
    if isinstance(error, Skip):
        return Outcome(Ended.SKIPPED, None, kept_text(str(error), patterns, LONGEST_ERROR))
    line = kept_text(_one_line(error), patterns, LONGEST_ERROR)
    return Outcome(Ended.FAILED, None, line, kept_text(_told(error), patterns))


def _succeeded(value: object, task: Task, run: Current) -> Outcome:
    """Report what a job returned, after what it wrote is kept."""
    result = kept_result(value, task.redact, task.result_limit)
    run.effects.keep(result)
    return Outcome(Ended.SUCCEEDED, result)


def cancelled(reason: str) -> Outcome:
    """Report that a run ended because it was asked to."""
    return Outcome(Ended.CANCELLED, None, kept_text(f"cancelled: {reason}", (), LONGEST_ERROR))


def _one_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception as another:  # noqa: BLE001 - an error whose text cannot be made is still one
        text = f"<its text raised {type(another).__name__}>"
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    name = f"{module}{kind.__qualname__}"
    return f"{name}: {text}" if text else name


def _told(error: BaseException) -> str:
    # The first frame is ours; the job's begin below it.
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception as another:  # noqa: BLE001 - the report must be made, with or without it
        return f"{_one_line(error)}\n(its traceback raised {type(another).__name__})\n"
