"""Slots that schedules will run, as things stand."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice

from sempre.app.presentation.fields import StoreReader
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.steps import first_slot_from
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.grids.grid import following
from sempre.ports.messages import View

__all__ = ["all_views", "upcoming"]

PAGE = 500


def all_views(reader: StoreReader) -> Iterator[View]:
    """Yield every schedule with the rows that planning reads."""
    after = ""
    while True:
        reading = reader.store.slice(after=after, limit=PAGE)
        views = reader.read(reading)
        yield from views
        ids = [view.schedule.id for view in views] + [each.missing for each in reading.unreadable]
        if len(ids) < PAGE:
            return
        after = max(ids)


def upcoming(
    view: View, *, after: datetime, count: int | None = None, overdue: bool = True
) -> Iterator[datetime]:
    """Yield the slots of a schedule that will run after an instant.

    With `overdue`, an execution that waits since an earlier slot comes first. Slots that are
    skipped, paused, past `until` or beyond `limit` are left out.

    Raises:
        UnknownGrid: the grid's class lives in the user's code, which is not imported here.
    """
    schedule = view.schedule
    if not schedule.wants_next_row or schedule.ended or schedule.broken:
        return iter(())
    limit = schedule.definition.limit
    left = [each for each in (count, limit and limit - schedule.starts) if each is not None]
    waiting = [schedule.next_run_at] if overdue and schedule.next_run_at else []
    passed = [slot for slot in waiting if slot <= after]
    return islice(chain(passed, _slots(view, after)), min(left, default=None))


def _slots(view: View, after: datetime) -> Iterator[datetime]:
    schedule = view.schedule
    declared = schedule.definition
    skipped = {row.run_at for row in view.rows if row.state is State.SKIPPED}
    start = after + TICK
    if schedule.pause and schedule.pause.until:
        start = max(start, schedule.pause.until)
    for slot in _walk(schedule, start):
        if declared.until and slot > declared.until:
            return
        if slot not in skipped:
            yield slot


def _walk(schedule: Schedule, start: datetime) -> Iterator[datetime]:
    grid = schedule.definition.grid
    cursor = schedule.cursor if grid.relative else start - TICK
    slot = first_slot_from(grid, cursor, start)
    while slot is not None:
        yield slot
        slot = following(grid, slot)
