"""Steps: the slots of any grid; those of a relative grid are computed from slot to slot.

`Every` and `Cron` give the next slot after any instant. The answer of a relative grid depends on
the instant asked from, so its slots are found by stepping from the cursor.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from sempre.domain.planning.plan import TICK
from sempre.errors import BrokenGrid
from sempre.errors.wording import written_instant
from sempre.grids.grid import Grid, following

__all__ = ["MOST_STEPS", "first_slot_from", "last_slot", "slots_until"]

MOST_STEPS = 100_000
"""The most slots of a relative grid in one computation; a step takes about a microsecond."""


def first_slot_from(grid: Grid, cursor: datetime, instant: datetime) -> datetime | None:
    """Return the first slot after the cursor and not before an instant; None if there is none.

    Raises:
        BrokenGrid: a relative grid has more than MOST_STEPS slots before the instant.
    """
    if not grid.relative:
        return following(grid, max(cursor, instant - TICK))
    slot = following(grid, cursor)
    for _ in range(MOST_STEPS):
        if slot is None or slot >= instant:
            return slot
        slot = following(grid, slot)
    message = f"the relative grid {grid!r} has more than {MOST_STEPS:,} slots"
    stretch = f"between {written_instant(cursor)} and {written_instant(instant)}"
    raise BrokenGrid(f"{message} {stretch}; pause or skip to an earlier instant.")


def slots_until(grid: Grid, after: datetime, until: datetime) -> list[datetime]:
    """Return the first slots of a relative grid after one of its slots, up to an instant.

    At most MOST_STEPS; the caller continues from the last slot another time.
    """
    return list(islice(_steps(grid, after, until), MOST_STEPS))


def last_slot(grid: Grid, after: datetime, until: datetime) -> datetime | None:
    """Return the last slot after a slot and up to an instant; None if there is none."""
    if until <= after:
        return None
    if grid.relative:
        return next(reversed(slots_until(grid, after, until)), None)
    passed = grid.passed(after, until)
    return passed.last if passed else None


def _steps(grid: Grid, after: datetime, until: datetime) -> Iterator[datetime]:
    slot = following(grid, after)
    while slot is not None and slot <= until:
        yield slot
        slot = following(grid, slot)
