"""One call of a job's function and its outcome, in any thread, task or process.

Every executor calls functions through this module, so that a job gives equal outcomes in a thread,
on the event loop and in a child process. An outcome consists of plain values: a child sends it as
JSON.
"""

import asyncio
import traceback
from collections.abc import Awaitable
from types import CoroutineType

from sempre.domain.exception_types import type_names
from sempre.domain.job_ends import GiveUp, RetryLater
from sempre.domain.redaction import kept_text
from sempre.domain.results import kept_result
from sempre.errors import RunCancelled, Skip
from sempre.executors.current import Current, running
from sempre.ports.executor import Ended, Outcome, Task

__all__ = ["LONGEST_ERROR", "call_async_job", "call_job", "cancelled", "failed"]

LONGEST_ERROR = 500


def call_job(task: Task, run: Current) -> Outcome:
    """Call a function to its end in this thread; a coroutine gets a loop of its own.

    Never raises: SystemExit and KeyboardInterrupt are failures of the job like any other.
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


async def call_async_job(task: Task, run: Current) -> Outcome:
    """Call a function on the running loop and await its result; never raises.

    A cancellation is an outcome too: the executor that cancelled the task adds the reason.
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
    """Return the outcome of a job that raised.

    RunCancelled is no failure if the run was asked to end, and neither is RetryLater: no retry
    follows a cancel. Skip is no failure at all.
    """
    reason = run.link.reason
    if isinstance(error, RunCancelled | RetryLater) and reason is not None:
        return cancelled(reason)
    if isinstance(error, Skip):
        return Outcome(Ended.SKIPPED, None, kept_text(str(error), patterns, LONGEST_ERROR))
    if isinstance(error, RetryLater):
        why = kept_text(str(error), patterns, LONGEST_ERROR)
        return Outcome(Ended.RETRY_LATER, None, why, after=error.after)
    trace = kept_text(_formatted_traceback(error), patterns)
    if isinstance(error, GiveUp):
        why = kept_text(str(error), patterns, LONGEST_ERROR)
        return Outcome(Ended.GAVE_UP, None, why, trace)
    line = kept_text(_one_line(error), patterns, LONGEST_ERROR)
    return Outcome(Ended.FAILED, None, line, trace, types=type_names(type(error)))


def cancelled(reason: str) -> Outcome:
    """Return the outcome of a run that ended because it was asked to."""
    return Outcome(Ended.CANCELLED, None, kept_text(f"cancelled: {reason}", (), LONGEST_ERROR))


def _succeeded(value: object, task: Task, run: Current) -> Outcome:
    """Commit the transaction of the run, if it has one; return the outcome of a success."""
    result = kept_result(value, task.redact, task.result_limit)
    run.effects.keep(result)
    return Outcome(Ended.SUCCEEDED, result)


def _one_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception as another:  # noqa: BLE001 - an error without a text is still an error
        text = f"<its text raised {type(another).__name__}>"
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    name = f"{module}{kind.__qualname__}"
    return f"{name}: {text}" if text else name


def _formatted_traceback(error: BaseException) -> str:
    # The first frame belongs to this module; the frames of the job come below.
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception as another:  # noqa: BLE001 - the outcome is needed even without a traceback
        return f"{_one_line(error)}\n(its traceback raised {type(another).__name__})\n"
