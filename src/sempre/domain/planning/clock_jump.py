"""Returning: the store's clock had jumped ahead and came back, and a schedule has stayed there.

Its cursor lies in the future, so that none of the slots before it would ever run. It goes back to
now, the only way back that a cursor has. What really ran keeps its slot and does not run again;
what was given up is still to come.
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
    """Bring a schedule back to now, given what is recorded of slots that end after now.

    Every slot up to now stays decided as it was.

    Raises:
        BrokenGrid: the grid cannot tell how many slots lie on this side of now; nothing is
            written then.
    """
    now, grid = builder.now, builder.schedule.definition.grid
    kept = list(_up_to(now, passed, grid))
    builder.retract(now, kept)
    # A relative grid goes on from a slot that it has, if one is known.
    builder.update(cursor=kept[-1].last if grid.relative and kept else now)
    for row in list(builder.rows.values()):
        if row.run_at > now and _was_given_up(row):
            builder.move(row, State.SUPERSEDED, Reason.CLOCK)


def _up_to(now: datetime, passed: Iterable[SlotRange], grid: Grid) -> Iterator[SlotRange]:
    """Yield what remains of stretches of slots that reach beyond now."""
    for each in passed:
        if each.first <= now < each.last:
            # From its first slot, since not every grid can be asked from any instant.
            rest = grid.passed(each.first, now)
            last, count = (rest.last, rest.count + 1) if rest else (each.first, 1)
            yield copy_with(each, last=last, count=min(count, each.count))


def _was_given_up(row: Execution) -> bool:
    """Tell whether a slot was decided without a run, and not because somebody asked for that."""
    if not row.occupies_slot or row.first_started_at is not None:
        return False
    asked = row.reason.startswith(Reason.REQUESTED)
    return row.state is State.MISSED or (row.state is State.SKIPPED and not asked)
