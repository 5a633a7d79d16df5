"""Decoding of many rows: an unreadable row is left out and reported, and hides no other row.

All rows are decoded in one go; only after a failure each row is decoded on its own.
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
"""Rows that were left out of an answer, in the order in which they were met."""


def decoded(
    rows: Sequence[Any], read: Callable[[Any], T], told: Told, left_out: LeftOut
) -> list[T]:
    """Return what rows say, but for those that cannot be read."""
    found, unread = read_each(rows, read, told)
    left_out += unread
    return found


def told_as(table: Table, identity: str) -> Told:
    """Return how to tell of a row that belongs to a schedule, an execution or a session."""
    return lambda _row, error: unreadable(table, identity, identity, error)


def told_of_execution(row: Row, error: Exception) -> Unreadable:
    """Tell of an execution that cannot be read."""
    return unreadable("executions", row[0], row[_NAME_OF_EXECUTION], error)


def _told_of_schedule(row: Row, error: Exception) -> Unreadable:
    return unreadable("schedules", row[0], row[_NAME_OF_SCHEDULE], error)


def executions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Execution]:
    """Return executions, but for those that cannot be read."""
    return decoded(rows, read_execution, told_of_execution, left_out)


def schedules_of(rows: Sequence[Row], left_out: LeftOut) -> list[Schedule]:
    """Return schedules, but for those that cannot be read."""
    return decoded(rows, read_schedule, _told_of_schedule, left_out)


def sessions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Session]:
    """Return sessions, but for those that cannot be read."""

    def told(row: Row, error: Exception) -> Unreadable:
        return unreadable("sessions", row[0], row[0], error)

    return decoded(rows, read_session, told, left_out)


def views_of(found: Sequence[Any], left_out: LeftOut) -> list[View]:
    """Return schedules with their rows.

    One that cannot be read, or has a row that cannot be, is left to those who can read all of it:
    whoever planned without that row might run a slot twice, or never again.
    """

    def told(view: Any, _error: Exception) -> Unreadable:  # noqa: ANN401 - as a script answers
        return _culprit(view).hides(view[0][0])

    return decoded(found, read_view, told, left_out)


def candidates_of(found: Sequence[Any], left_out: LeftOut) -> list[Candidate]:
    """Return executions with the views of their schedules.

    One whose schedule cannot be read is left out as well: it would run without a successor.
    """

    def told(candidate: Any, error: Exception) -> Unreadable:  # noqa: ANN401 - as a script answers
        row, view, _ = candidate
        try:
            read_execution(row)
        except Exception as own:  # noqa: BLE001 - whatever a row of a newer release leads to
            return told_of_execution(row, own)
        return _culprit(view).hides(row[0]) if view else told_of_execution(row, error)

    return decoded(found, read_candidate, told, left_out)


def _culprit(view: Sequence[Any]) -> Unreadable:
    """Return which row of a view cannot be read."""
    schedule, rows = view
    left_out: LeftOut = []
    schedules_of([schedule], left_out)
    executions_of(rows, left_out)
    return left_out[0]
