"""Audit stamps: an index of them leads maintenance to the schedules that need repair."""

from collections.abc import Iterable

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.tzdata_order import sortable_tzdata

__all__ = ["audit_stamp", "stamp_of_birth"]


def audit_stamp(schedule: Schedule, next_tzdata: str | None) -> str | None:
    """Return the audit stamp of a schedule, given the tzdata version of its next row, if any.

    The stamp is None for a sound schedule, empty for one that needs repair, and otherwise the
    tzdata version of the next row, which an index sorts by age.
    """
    if schedule.audit == "sound":
        return None
    if schedule.audit == "needs repair" or next_tzdata is None:
        return ""
    return sortable_tzdata(next_tzdata)


def stamp_of_birth(schedule: Schedule, rows: Iterable[Execution]) -> str | None:
    """Return the audit stamp of a schedule that is created with its rows."""
    waiting = (row for row in rows if row.waits_for_slot)
    found = (row.tzdata for row in waiting if row.run_at == schedule.next_run_at)
    return audit_stamp(schedule, next(found, None))
