"""Clock jumps: a schedule whose cursor was left in the future when the store's clock came back.

No slot before such a cursor would ever run, so the cursor goes back to now. A cursor moves back in
this case only. A slot that ran keeps its row and does not run again; a slot that was given up is
still to come.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.plan import PlanBuilder
from sempre.domain.states import Reason, State
from sempre.domain.values import copy_with
from sempre.grids.grid import Grid

__all__ = ["rewind_cursor"]


def rewind_cursor(builder: PlanBuilder, passed: Iterable[SlotRange]) -> None:
    """Move the cursor of a schedule back to now, given the recorded ranges that end after now.

    The decisions on slots up to now stay.

    Raises:
        BrokenGrid: the grid cannot count the slots before now; the plan is left unchanged.
    """
    now, grid = builder.now, builder.schedule.definition.grid
    kept = list(_up_to(now, passed, grid))
    builder.retract(now, kept)
    # A relative grid continues from one of its own slots, if one is known.
    builder.update(cursor=kept[-1].last if grid.relative and kept else now)
    for row in list(builder.rows.values()):
        if row.run_at > now and _was_given_up(row):
            builder.move(row, State.SUPERSEDED, Reason.CLOCK)


def _up_to(now: datetime, passed: Iterable[SlotRange], grid: Grid) -> Iterator[SlotRange]:
    """Yield the ranges that begin before now and end after it, cut off at now."""
    for each in passed:
        if each.first <= now < each.last:
            # Counted from the first slot: a relative grid answers only from its own slots.
            rest = grid.passed(each.first, now)
            last, count = (rest.last, rest.count + 1) if rest else (each.first, 1)
            yield copy_with(each, last=last, count=min(count, each.count))


def _was_given_up(row: Execution) -> bool:
    """Whether a slot was decided without a run, and not at the request of an operator."""
    if not row.occupies_slot or row.first_started_at is not None:
        return False
    asked = row.reason.startswith(Reason.REQUESTED)
    return row.state is State.MISSED or (row.state is State.SKIPPED and not asked)
