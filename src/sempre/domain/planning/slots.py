"""Slots: which slot comes next, when a slot is due, and which slots passed without a row."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from itertools import groupby

from sempre.domain.execution import SlotRange
from sempre.domain.planning.plan import TICK, PlanBuilder
from sempre.domain.planning.steps import first_slot_from, slots_until
from sempre.domain.schedule import Schedule
from sempre.domain.spread import spread
from sempre.domain.states import Reason
from sempre.errors import BrokenGrid, InvalidInput
from sempre.grids.grid import Grid, following
from sempre.grids.instants import microseconds_of

__all__ = ["GRID_ERRORS", "advance", "due_at", "first_eligible", "jittered", "newest_slots"]

# Raised by a user's own grid that is broken: that schedule is marked, every other one goes on.
GRID_ERRORS = (BrokenGrid, InvalidInput)


def first_eligible(schedule: Schedule, taken: AbstractSet[datetime]) -> datetime | None:
    """Return the first slot after the cursor that may run and has no row; None if there is none.

    Raises:
        BrokenGrid: the grid raised, or its answer was not later than asked.
    """
    declared, pause = schedule.definition, schedule.pause
    if schedule.has_reached_limit or (pause and pause.until is None):
        return None
    slot = following(declared.grid, schedule.cursor)
    if pause and pause.until and slot and slot < pause.until:
        slot = first_slot_from(declared.grid, slot, pause.until)
    while slot is not None and slot in taken:
        slot = following(declared.grid, slot)
    if slot is None or (declared.until and slot > declared.until):
        return None
    return slot


def due_at(schedule: Schedule, run_at: datetime, *, now: datetime) -> datetime:
    """Return when a slot may start, with jitter: equal on every worker, and before the next slot.

    A slot that is past when its row is created has no jitter: it is due at once.
    """
    declared = schedule.definition
    if not declared.jitter:
        return run_at
    start = jittered(schedule.name, declared.grid, declared.jitter, run_at)
    return start if start > now else run_at


def jittered(name: str, grid: Grid, jitter: timedelta, run_at: datetime) -> datetime:
    """Return when a slot of a schedule of this name may start, spread by jitter."""
    successor = following(grid, run_at)
    width = jitter if successor is None else min(jitter, successor - run_at)
    text = f"{name}\0{microseconds_of(run_at)}"
    return run_at + TICK * spread(text, width // TICK)


def advance(builder: PlanBuilder, to: datetime, reason: str = Reason.MISSED) -> None:
    """Move the cursor forward, and record the slots on the way that have no row.

    The cursor never moves back here: if the store's clock was set back, the cursor stays. A broken
    grid cannot name its slots; the cursor moves without records. On a relative grid the cursor
    moves to the last slot on the way: the next slot is computed from there.
    """
    if to <= builder.schedule.cursor:
        return
    if builder.schedule.definition.grid.relative:
        _step(builder, to, reason)
        return
    try:
        builder.record(list(_passed_ranges(builder.schedule, builder.taken(), to, reason)))
    except GRID_ERRORS as error:
        builder.update(broken=str(error))
    builder.update(cursor=to)


def _step(builder: PlanBuilder, to: datetime, reason: str) -> None:
    """Move the cursor of a relative grid from slot to slot."""
    schedule, taken = builder.schedule, builder.taken()
    try:
        slots = slots_until(schedule.definition.grid, schedule.cursor, to)
    except GRID_ERRORS as error:
        builder.update(broken=str(error), cursor=to)
        return
    stretches = list(_reasons_in_force(schedule, to, reason))
    for (why, is_free), run in groupby(
        slots, lambda slot: (_why(slot, stretches), slot not in taken)
    ):
        passed = list(run)
        if is_free:
            first, last, count = passed[0], passed[-1], len(passed)
            found = SlotRange(
                schedule_id=schedule.id, first=first, last=last, count=count, reason=why
            )
            builder.record([found])
    if slots:
        builder.update(cursor=slots[-1])


def _why(slot: datetime, stretches: Sequence[tuple[datetime, datetime, str]]) -> str:
    return next(why for after, last, why in stretches if after < slot <= last)


def _passed_ranges(
    schedule: Schedule, taken: AbstractSet[datetime], until: datetime, reason: str
) -> Iterator[SlotRange]:
    grid = schedule.definition.grid
    for after, last, why in _reasons_in_force(schedule, until, reason):
        for begin, end in _between_rows(after, last, taken):
            passed = grid.passed(begin, end)
            if passed:
                yield SlotRange(
                    schedule_id=schedule.id,
                    first=passed.first,
                    last=passed.last,
                    count=passed.count,
                    reason=why,
                )


def _reasons_in_force(
    schedule: Schedule, until: datetime, reason: str
) -> Iterator[tuple[datetime, datetime, str]]:
    """Split the time after the cursor by why slots did not run: (after, last, reason)."""
    declared, pause = schedule.definition, schedule.pause
    after = schedule.cursor
    if not declared.enabled:
        yield after, until, Reason.DISABLED
        return
    if schedule.has_reached_limit:
        yield after, until, Reason.ENDED
        return
    if pause:
        resumed = until if pause.until is None else min(until, pause.until - TICK)
        yield after, resumed, Reason.PAUSED
        after = max(after, resumed)
    if declared.until and declared.until < until:
        yield after, declared.until, reason
        yield max(after, declared.until), until, Reason.ENDED
    else:
        yield after, until, reason


def _between_rows(
    after: datetime, last: datetime, taken: AbstractSet[datetime]
) -> Iterator[tuple[datetime, datetime]]:
    """Split a period at the slots that have a row."""
    for slot in sorted(slot for slot in taken if after < slot <= last):
        if after < slot - TICK:
            yield after, slot - TICK
        after = slot
    if after < last:
        yield after, last


def newest_slots(grid: Grid, after: datetime, until: datetime, count: int) -> list[datetime]:
    """Return the latest slots after one instant and up to another, at most `count`."""
    if grid.relative:
        return slots_until(grid, after, until)[-count:]
    width = timedelta(seconds=count or 1)
    while until - width > after:
        passed = grid.passed(until - width, until)
        if passed and passed.count >= count:
            break
        width *= 2
    return grid.between(max(after, until - width), until)[-count:]
