"""Stamps: what leads maintenance to the schedules that may be wrong, by an index."""

from collections.abc import Iterable

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.stores.sql import encoding

__all__ = ["BY_ROW", "stamp_of_birth", "stamp_without_rows"]

BY_ROW = "by its next row"


def stamp_without_rows(schedule: Schedule) -> str | None:
    """Return the stamp where the schedule alone decides it: "" is astray, None is not."""
    if schedule.deleted or schedule.ended:
        return None
    if not schedule.started:
        return "" if schedule.definition.enabled else None
    if not schedule.wants_next_row:
        return None
    return "" if schedule.broken or schedule.next_run_at is None else BY_ROW


def stamp_of_birth(schedule: Schedule, rows: Iterable[Execution]) -> str | None:
    """Return what leads maintenance to a schedule that is created with its rows."""
    stamp = stamp_without_rows(schedule)
    if stamp is not BY_ROW:
        return stamp
    waiting = (row for row in rows if row.is_untried and row.occupies_slot)
    stamps = [row.tzdata for row in waiting if row.run_at == schedule.next_run_at]
    return encoding.audit_stamp(stamps[0]) if stamps else ""
