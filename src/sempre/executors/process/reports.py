"""Checks of the messages that a child sends about its run: its job may have forged them.

Every store can hold a report that passes. A child that sends a bad report fails its own run, and
keeps no other run from being recorded.
"""

from datetime import datetime, timedelta
from typing import Any

from sempre.domain.arguments import check_json
from sempre.domain.exception_types import LONGEST_NAME, MOST_NAMES
from sempre.domain.job_ends import RetryLater
from sempre.domain.redaction import LARGEST_TEXT, kept_text, storable
from sempre.domain.results import RESULT_LIMIT
from sempre.errors import ArgumentsError, InvalidInput
from sempre.executors.current import LONGEST_NOTE, amount
from sempre.executors.job_call import LONGEST_ERROR
from sempre.executors.process.frames import BrokenFrame
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.executor import Ended, Outcome, Progress, Task

__all__ = ["LogEntry", "largest_message", "malformed", "read_message", "write_report"]

# The worker itself decides that a run has crashed, was interrupted or timed out.
_ENDS = {
    each.value: each
    for each in (
        Ended.SUCCEEDED,
        Ended.FAILED,
        Ended.CANCELLED,
        Ended.SKIPPED,
        Ended.RETRY_LATER,
        Ended.GAVE_UP,
    )
}
# Room for an error, a traceback, the repr of a value that is no JSON, and names of exception types,
# all of them escaped.
_AROUND_RESULT = 12 * LARGEST_TEXT
_MICROSECOND = timedelta(microseconds=1)


class LogEntry(str):
    """An entry of the log of a run."""

    __slots__ = ()


def largest_message(task: Task) -> int:
    """Return the most bytes of a message about a run of a task."""
    return max(task.result_limit, RESULT_LIMIT) + _AROUND_RESULT


def write_report(outcome: Outcome) -> list[Any]:
    """Return the parts of an outcome that a child reports, as JSON; see `read_message`."""
    match outcome.after:
        case datetime():
            after: list[Any] | None = ["at", microseconds_of(outcome.after)]
        case timedelta():
            after = ["after", outcome.after // _MICROSECOND]
        case None:
            after = None
    return [*outcome[:4], outcome.types, after]


def read_message(message: dict[str, Any]) -> Outcome | Progress | LogEntry:
    """Return the outcome, the progress or the log entry in a message.

    Raises:
        BrokenFrame: the message is malformed; the error says what is wrong.
    """
    match message:
        case {"report": list(parts), **rest} if not rest:
            return _report(parts)
        case {"progress": list(parts), **rest} if not rest:
            return _progress(parts)
        case {"log": str(entry), **rest} if not rest:
            _check_text("log entry", entry, LARGEST_TEXT)
            return LogEntry(entry)
    raise BrokenFrame("an object that is neither a report nor a progress nor a log entry")


def malformed(error: BrokenFrame) -> Outcome:
    """Return the outcome of a run whose child has sent a malformed report."""
    text = (
        f"its process sent a malformed report: {error}. "
        "A job must only write to descriptors that it has opened itself"
    )
    return Outcome(Ended.FAILED, error=kept_text(text, (), LONGEST_ERROR))


def _report(parts: list[Any]) -> Outcome:
    match parts:
        case [str(state), result, str(error), str(traceback), list(types), wait] if state in _ENDS:
            ended = _ENDS[state]
        case [str(), _, str(), str(), list(), _]:
            raise BrokenFrame("a report with an unknown state")
        case _:
            raise BrokenFrame("a report that does not have the parts of an outcome")
    _check_text("error", error, LONGEST_ERROR)
    _check_text("traceback", traceback, LARGEST_TEXT)
    if ended is Ended.SUCCEEDED:
        if error or traceback:
            raise BrokenFrame("a success with an error")
    elif result is not None:
        raise BrokenFrame(f"a result of a run that {ended}")
    if result is not None:
        _check_result(result)
    _check_types(types)
    after = _wait(wait)
    if (after is None) is (ended is Ended.RETRY_LATER):
        raise BrokenFrame("a retry without a wait, or a wait without a retry")
    return Outcome(ended, result, error, traceback, types=tuple(types), after=after)


def _check_types(types: list[Any]) -> None:
    if len(types) > MOST_NAMES or not all(isinstance(each, str) for each in types):
        raise BrokenFrame(f"more than {MOST_NAMES} exception types, or types that are no names")
    for each in types:
        _check_text("exception type", each, LONGEST_NAME)


def _wait(wait: Any) -> timedelta | datetime | None:  # noqa: ANN401 - any JSON value
    """Return how long, or until when, an execution is to wait; None if the report says nothing."""
    try:
        match wait:
            case None:
                return None
            case ["after", int(length)]:
                return RetryLater(length * _MICROSECOND).after
            case ["at", int(instant)]:
                return RetryLater(instant_of(instant)).after
    except (InvalidInput, OverflowError) as error:
        raise BrokenFrame(f"a wait that cannot be kept: {error}") from None
    raise BrokenFrame("a wait that is neither a length nor an instant")


def _progress(parts: list[Any]) -> Progress:
    match parts:
        case [done, total, str(note)] if (counted := amount(done)) is not None:
            whole = amount(total)
            if whole is not None or total is None:
                _check_text("note", note, LONGEST_NOTE)
                return Progress(counted, whole, note)
    raise BrokenFrame("a progress that is not two finite numbers and a note")


def _check_result(result: Any) -> None:  # noqa: ANN401 - any JSON value
    try:
        check_json("result", result)
    except (ArgumentsError, RecursionError) as error:
        raise BrokenFrame(f"a result that cannot be stored: {error}") from None


def _check_text(name: str, text: str, limit: int) -> None:
    if text and (storable(text) != text or len(text.encode()) > limit):
        raise BrokenFrame(f"its {name} is over {limit:,} bytes, or has NUL or lone surrogates")
