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
"""Rows that were left out of an answer, in the order in which they were met."""

_SCHEDULE_ID = EXECUTION.position("schedule_id")
# Where a row has the name of what it is about; in any other table it is its id that names it.
_NAMED = {
    "schedules": SCHEDULE.position("name"),
    "executions": len(EXECUTION.columns),
    "sessions": 1,
}


class Views(NamedTuple):
    """Schedules with their rows, and by id why others cannot be planned here."""

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
    """Return what rows of a table say, but for those that cannot be read.

    `named` is the position of the name in rows that have other columns than the table's own list.
    """
    position = _NAMED.get(table, 0) if named is None else named

    def told(row: Row, error: Exception) -> Unreadable:
        return unreadable(table, row[0], row[position], error)

    found, unread = read_each(rows, read, told)
    left_out += unread
    return found


def schedules_of(rows: Sequence[Row], left_out: LeftOut) -> list[Schedule]:
    """Return schedules, but for those that cannot be read."""
    return decoded("schedules", rows, read_schedule, left_out)


def executions_of(rows: Sequence[Row], left_out: LeftOut) -> list[Execution]:
    """Return executions, but for those that cannot be read."""
    return decoded("executions", rows, read_execution, left_out)


def views_among(schedules: Sequence[Row], rows: Sequence[Row]) -> Views:
    """Return schedules with those rows that are theirs.

    One that cannot be read, or has a row that cannot be, is left to those who can read all of it:
    whoever planned without that row might run a slot twice, or never again.
    """
    try:
        return Views(_views(schedules, rows), {})
    except Exception:  # noqa: BLE001 - which of them it was is found out one by one
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
