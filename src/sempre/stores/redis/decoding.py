"""Decoding of many rows: an unreadable row is left out and reported, and hides no other row.

All rows are decoded together; only after a failure is each row decoded on its own.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.unreadable import Table, Unreadable, read_each, unreadable
from sempre.ports.messages import Candidate, Session, View
from sempre.stores.redis.encoding import EXECUTION, SCHEDULE, read_execution, read_schedule
from sempre.stores.redis.records import read_candidate, read_session, read_view

__all__ = [
    "LeftOut",
    "candidates_of",
    "decoded",
    "executions_of",
    "schedules_of",
    "sessions_of",
    "told_as",
    "told_of_execution",
    "views_of",
]

T = TypeVar("T")
_NAME_OF_EXECUTION, _NAME_OF_SCHEDULE = len(EXECUTION.columns), SCHEDULE.position("name")
Row = Sequence[Any]
Told = Callable[[Any, Exception], Unreadable]
LeftOut = list[Unreadable]
"""Unreadable rows that an answer leaves out, in the order of the answer."""


def decoded(
    rows: Sequence[Any], read: Callable[[Any], T], told: Told, left_out: LeftOut
) -> list[T]:
    """Return the decoded rows; add unreadable rows to `left_out`."""
    found, unread = read_each(rows, read, told)
    left_out += unread
    return found


def told_as(table: Table, identity: str) -> Told:
    """Return a function that reports an unreadable row of a schedule, execution or session."""
    return lambda _row, error: unreadable(table, identity, identity, error)


def told_of_execution(row: Row, error: Exception) -> Unreadable:
    """Return the report of an execution that cannot be read."""
    return unreadable("executions", row[0], row[_NAME_OF_EXECUTION], error)


def _unreadable_schedule(row: Row, error: Exception) -> Unreadable:
    return unreadable("schedules", row[0], row[_NAME_OF_SCHEDULE], error)


def executions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Execution]:
    """Return executions; add unreadable ones to `left_out`."""
    return decoded(rows, read_execution, told_of_execution, left_out)


def schedules_of(rows: Sequence[Row], left_out: LeftOut) -> list[Schedule]:
    """Return schedules; add unreadable ones to `left_out`."""
    return decoded(rows, read_schedule, _unreadable_schedule, left_out)


def sessions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Session]:
    """Return sessions; add unreadable ones to `left_out`."""

    def describe(row: Row, error: Exception) -> Unreadable:
        return unreadable("sessions", row[0], row[0], error)

    return decoded(rows, read_session, describe, left_out)


def views_of(found: Sequence[Any], left_out: LeftOut) -> list[View]:
    """Return schedules with their rows; leave out a schedule if any part of it is unreadable.

    A process that can read every row plans that schedule. A plan made without the unreadable row
    might run a slot twice, or never again.
    """

    def describe(view: Any, _error: Exception) -> Unreadable:  # noqa: ANN401 - a script's answer
        return _culprit(view).hides(view[0][0])

    return decoded(found, read_view, describe, left_out)


def candidates_of(found: Sequence[Any], left_out: LeftOut) -> list[Candidate]:
    """Return executions with the views of their schedules.

    An execution of an unreadable schedule is left out too: it would run without a successor.
    """

    def describe(candidate: Any, error: Exception) -> Unreadable:  # noqa: ANN401 - an answer
        row, view, _ = candidate
        try:
            read_execution(row)
        except Exception as own:  # noqa: BLE001 - a row of a newer release may raise anything
            return told_of_execution(row, own)
        return _culprit(view).hides(row[0]) if view else told_of_execution(row, error)

    return decoded(found, read_candidate, describe, left_out)


def _culprit(view: Sequence[Any]) -> Unreadable:
    """Return the first row of a view that cannot be read."""
    schedule, rows = view
    left_out: LeftOut = []
    schedules_of([schedule], left_out)
    executions_of(rows, left_out)
    return left_out[0]
