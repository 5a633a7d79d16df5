"""Lateness: when a row could have started, and which slots after a late row are given up.

A gap longer than the tolerance, in which a row could have started and did not, is downtime. Slots
that passed during a downtime are given up, unless the schedule catches up. Slots within the
tolerance run.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.slots import due_at, newest_slots
from sempre.domain.planning.steps import last_slot
from sempre.domain.schedule import Schedule
from sempre.domain.states import State

__all__ = ["last_dropped", "startable_at"]


def last_dropped(
    schedule: Schedule, row: Execution, others: Iterable[Execution], now: datetime
) -> datetime | None:
    """Return the last slot after a decided slot that is given up; None if every slot runs.

    A slot within the tolerance is given up only if it is past its deadline.

    Args:
        schedule: the schedule of the row.
        row: the row of the decided slot, after the decision.
        others: the other rows of the schedule, with rows that ended after this row was due.
        now: the instant of the decision.
    """
    declared = schedule.definition
    late = now - startable_at(row, others, declared.tolerance) > declared.tolerance
    bounds = []
    if row.state is State.MISSED and declared.deadline:
        bounds.append(_last_due_before(schedule, row, now - declared.deadline))
    elif late and not declared.catch_up:
        bounds.append(_last_due_before(schedule, row, now - declared.tolerance))
    if late and declared.catch_up and declared.catch_up_within is not None:
        oldest = now - max(declared.catch_up_within, declared.tolerance)
        bounds.append(_last_due_before(schedule, row, oldest))
    if late and declared.catch_up and declared.catch_up_max is not None:
        bounds.append(_last_beyond(declared.catch_up_max, schedule, row, now))
    return max((bound for bound in bounds if bound is not None), default=None)


def startable_at(row: Execution, others: Iterable[Execution], tolerance: timedelta) -> datetime:
    """Return the earliest instant at which a row could have started.

    Usually that is the due time of the row. A row that waits for earlier runs could have started
    when the last of the runs ended, if no gap between the runs was longer than the tolerance. A row
    that was created during an earlier run could not have started before its creation.
    """
    if row.state is not State.RUNNING or row.snapshot.overlap != "wait":
        return row.due_at
    instant = row.due_at
    runs = sorted(
        (other.started_at, other.finished_at)
        for other in others
        if other.state is not State.RUNNING and other.started_at and other.finished_at
    )
    if any(started <= row.created_at < ended for started, ended in runs):
        instant = max(instant, row.created_at)
    for started, ended in runs:
        if started <= instant + tolerance:
            instant = max(instant, ended)
    return instant


def _last_due_before(schedule: Schedule, row: Execution, instant: datetime) -> datetime | None:
    """Return the last slot after the slot of a row that was due before an instant."""
    declared = schedule.definition
    last = instant - TICK if declared.until is None else min(instant - TICK, declared.until)
    slot = last_slot(declared.grid, row.run_at, last)
    if slot and due_at(schedule, slot, now=slot) >= instant:
        # Jitter keeps the due time of a slot before the next slot: only the last can be later.
        slot = last_slot(declared.grid, row.run_at, slot - TICK)
    return slot


def _last_beyond(count: int, schedule: Schedule, row: Execution, now: datetime) -> datetime | None:
    """Return the last slot that is neither among the newest `count` nor within the tolerance."""
    declared = schedule.definition
    newest = now - TICK if declared.until is None else min(now - TICK, declared.until)
    kept = newest_slots(declared.grid, row.run_at, newest, count + 1)
    oldest = _last_due_before(schedule, row, now - declared.tolerance)
    return min(kept[0], oldest) if oldest and len(kept) > count else None
