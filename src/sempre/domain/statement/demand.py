"""Demand: the slots that the grids of a schedule demanded between two records.

A schedule's grid changes by edits and deploys. The log of actions has these changes, and the
snapshot of a row has the grid of its slot. Where both disagree, a change is missing from the log:
between the two rows around it, records alone show which slots were demanded.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from sempre.domain.definition_history import PastDefinition, definition_at
from sempre.domain.execution import SlotRange
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.slots import GRID_ERRORS
from sempre.domain.planning.steps import slots_until
from sempre.domain.schedule import AHEAD
from sempre.domain.values import copy_with
from sempre.grids.grid import Grid, Passed

__all__ = ["Demand", "SlotGrid", "days_between"]

DAY = timedelta(days=1)


class SlotGrid(NamedTuple):
    """A slot that has a row, and the grid in the snapshot of the row."""

    slot: datetime
    grid: Grid


class Demand:
    """The slots that the definitions of a schedule demanded.

    Attributes:
        is_known: whether the grid was known wherever demand was asked for.
    """

    def __init__(self, definitions: Sequence[PastDefinition]) -> None:
        """Take the definitions of a schedule, oldest first."""
        self._definitions = definitions
        self.is_known = True

    def slots(
        self,
        after: datetime,
        until: datetime,
        *,
        left: SlotGrid | None = None,
        right: SlotGrid | None = None,
        by_day: bool = False,
    ) -> Iterator[Passed]:
        """Yield the demanded slots after one instant and up to another, grid by grid.

        Args:
            after: the slot of a record, or the beginning of the period.
            until: an instant before the next record, or the end of the period.
            left: the row before, if its grid is on record.
            right: the row after, if its grid is on record.
            by_day: whether the slots of each UTC day are yielded apart.
        """
        if until <= after:
            return
        for since, last, grid in self._grids(after, until, left, right):
            if grid is None:
                self.is_known = False
            elif not grid.relative:
                parts = days_between(since, last) if by_day else [(since, last)]
                yield from self._passed(grid, parts)

    def _passed(self, grid: Grid, parts: Iterable[tuple[datetime, datetime]]) -> Iterator[Passed]:
        for after, until in parts:
            try:
                passed = grid.passed(after, until)
            except GRID_ERRORS:
                self.is_known = False
                return
            if passed is not None:
                yield passed

    def _grids(
        self, after: datetime, until: datetime, left: SlotGrid | None, right: SlotGrid | None
    ) -> Iterator[tuple[datetime, datetime, Grid | None]]:
        """Yield the periods between two records and their grids."""
        if not (self._agrees(left) and self._agrees(right)):
            # A change is missing from the log: records alone count, unless both rows have one grid.
            yield after, until, left.grid if left and right and left.grid == right.grid else None
            return
        for each in self._definitions:
            begin = max(after, each.begin)
            # The commit of a change follows its plan by a moment: AHEAD bounds that moment.
            end = until if each.end is None else min(until, each.end - AHEAD)
            if begin < end:
                yield begin, end, each.known_grid

    def _agrees(self, row: SlotGrid | None) -> bool:
        return row is None or self.grid_at(row.slot) == row.grid

    def cut(self, passed: SlotRange, start: datetime, until: datetime) -> SlotRange | None:
        """Return the part of a range from one instant up to another; None if it is empty."""
        if start <= passed.first and passed.last <= until:
            return passed
        if passed.last < start or until < passed.first:
            return None
        grid = self.grid_at(passed.first)
        if grid is None:
            self.is_known = False
            return None
        if grid.relative:
            known = [passed.first, *slots_until(grid, passed.first, passed.last)]
            slots = [slot for slot in known if start <= slot <= until]
            rest = Passed(slots[0], slots[-1], len(slots)) if slots else None
        else:
            begin, end = max(start, passed.first), min(until, passed.last)
            rest = grid.passed(begin - TICK, end)
        if rest is None:
            return None
        return copy_with(passed, first=rest.first, last=rest.last, count=rest.count)

    def grid_at(self, slot: datetime) -> Grid | None:
        """Return the grid in force at a slot; None if it is unknown."""
        return definition_at(self._definitions, slot).known_grid


def days_between(after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Split a period at the ends of UTC days: each part is (after, until]."""
    while after < until:
        following = datetime.combine((after + TICK).date() + DAY, time(0), tzinfo=UTC) - TICK
        yield after, min(until, following)
        after = following
