"""Decoding of many rows: an unreadable row is left out and reported, and hides no other row.

All rows are decoded in one go; only after a failure each row is decoded on its own.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.unreadable import Table, Unreadable, read_each, unreadable
from sempre.ports.messages import View
from sempre.stores.sql.encoding import EXECUTION, SCHEDULE, read_execution, read_schedule

__all__ = ["LeftOut", "Views", "decoded", "executions_of", "schedules_of", "views_among"]

T = TypeVar("T")
Row = Sequence[Any]
LeftOut = list[Unreadable]
"""Rows that were left out of an answer, in the order in which they were read."""

_SCHEDULE_ID = EXECUTION.position("schedule_id")
# The position of the name in a row; rows of any other table are named by their id.
_NAMED = {
    "schedules": SCHEDULE.position("name"),
    "executions": len(EXECUTION.columns),
    "sessions": 1,
}


class Views(NamedTuple):
    """Schedules with their rows, and by id the reason why a schedule cannot be planned here."""

    readable: list[View]
    unreadable: dict[str, Unreadable]


def decoded(
    table: Table,
    rows: Sequence[Row],
    read: Callable[[Row], T],
    left_out: LeftOut,
    *,
    named: int | None = None,
) -> list[T]:
    """Return the values of rows; add unreadable rows to `left_out`.

    `named` is the position of the name if the rows have other columns than the table.
    """
    position = _NAMED.get(table, 0) if named is None else named

    def describe(row: Row, error: Exception) -> Unreadable:
        return unreadable(table, row[0], row[position], error)

    found, unread = read_each(rows, read, describe)
    left_out += unread
    return found


def schedules_of(rows: Sequence[Row], left_out: LeftOut) -> list[Schedule]:
    """Return the readable schedules; add unreadable rows to `left_out`."""
    return decoded("schedules", rows, read_schedule, left_out)


def executions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Execution]:
    """Return the readable executions; add unreadable rows to `left_out`."""
    return decoded("executions", rows, read_execution, left_out)


def views_among(schedules: Sequence[Row], rows: Sequence[Row]) -> Views:
    """Return schedules with their own rows.

    A schedule that is unreadable, or has an unreadable row, is left to workers that can read all:
    a plan made without that row might run a slot twice, or never again.
    """
    try:
        return Views(_views(schedules, rows), {})
    except Exception:  # noqa: BLE001 - the unreadable rows are found one by one
        return _views_one_by_one(schedules, rows)


def _views(schedules: Iterable[Row], rows: Iterable[Row]) -> list[View]:
    found: dict[str, dict[str, Execution]] = {row[0]: {} for row in schedules}
    for row in rows:
        found[row[_SCHEDULE_ID]][row[0]] = read_execution(row)
    return [View(each, tuple(found[each.id].values())) for each in map(read_schedule, schedules)]


def _views_one_by_one(schedules: Iterable[Row], rows: Sequence[Row]) -> Views:
    readable: list[View] = []
    hidden: dict[str, Unreadable] = {}
    for schedule in schedules:
        own, culprits = [row for row in rows if row[_SCHEDULE_ID] == schedule[0]], LeftOut()
        schedules_of([schedule], culprits)
        executions_of(own, culprits)
        if culprits:
            hidden[schedule[0]] = culprits[0].hides(schedule[0])
        else:
            readable += _views([schedule], own)
    return Views(readable, hidden)
