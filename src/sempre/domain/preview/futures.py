"""Futures: the slots that a schedule runs in a window, if nothing else changes.

A future is counted without listing its slots: a schedule that runs every second has 7.8 million
slots in 90 days.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, islice

from sempre.domain.execution import Draft, Execution
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.steps import first_slot_from
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.grids.grid import Grid, following

__all__ = ["MOST", "Future", "Stretch", "future_of"]

MOST = 50_000
"""The most slots that one computation visits; a slot takes about two microseconds."""


@dataclass(frozen=True)
class Stretch:
    """The time after an instant, up to and with another; empty if `until` is not later."""

    after: datetime
    until: datetime

    def __contains__(self, instant: datetime) -> bool:
        """Whether an instant lies in the stretch."""
        return self.after < instant <= self.until

    def without(self, other: "Stretch") -> "list[Stretch]":
        """Return the parts of this stretch that the other one does not cover."""
        before = Stretch(self.after, min(self.until, other.after))
        rest = Stretch(max(self.after, other.until), self.until)
        parts = [self] if other.is_empty else [before, rest]
        return [each for each in parts if not each.is_empty]

    @property
    def is_empty(self) -> bool:
        """Whether no instant lies in the stretch."""
        return self.until <= self.after


@dataclass(frozen=True)
class Future:
    """The slots that a schedule runs in a window.

    Attributes:
        grid: the rule of the slots.
        cursor: where the slots of a relative grid are counted from.
        stretch: the part of the window in which the schedule runs.
        waiting: slots up to now whose executions wait for their start.
        taken: slots after now that do not run, such as skipped ones.
        left: how many further starts `limit` allows; None for any number.
    """

    grid: Grid
    cursor: datetime
    stretch: Stretch
    waiting: tuple[datetime, ...] = ()
    taken: frozenset[datetime] = frozenset()
    left: int | None = None

    def __iter__(self) -> Iterator[datetime]:
        """Yield the slots in order."""
        return islice(chain(self.waiting, self._later()), self.left)

    def __contains__(self, slot: datetime) -> bool:
        """Whether an instant is one of the slots; for plain futures only."""
        return slot in self.waiting or (slot not in self.taken and self.has_slot(slot))

    @property
    def is_plain(self) -> bool:
        """Whether any instant can be checked without listing the slots before it."""
        return not self.grid.relative and (self.left is None or self.left >= self._unlimited)

    @property
    def is_counted(self) -> bool:
        """Whether `count` is the number of slots; if not, there are at least so many."""
        return not self.grid.relative or self._unlimited < MOST

    @cached_property
    def count(self) -> int:
        """The number of slots; a relative grid is counted up to MOST."""
        return self._unlimited if self.left is None else min(self.left, self._unlimited)

    def count_in(self, stretch: Stretch) -> int:
        """Return the number of slots of the grid in a stretch; not for a relative grid."""
        passed = None if stretch.is_empty else self.grid.passed(stretch.after, stretch.until)
        return passed.count if passed else 0

    def slots_in(self, stretch: Stretch) -> Iterator[datetime]:
        """Yield the slots of the grid in a stretch."""
        if stretch.is_empty:
            return
        cursor = self.cursor if self.grid.relative else stretch.after
        slot = first_slot_from(self.grid, cursor, stretch.after + TICK)
        while slot is not None and slot <= stretch.until:
            yield slot
            slot = following(self.grid, slot)

    def has_slot(self, instant: datetime) -> bool:
        """Whether the grid has a slot at an instant of the stretch; not for a relative grid."""
        return instant in self.stretch and following(self.grid, instant - TICK) == instant

    @cached_property
    def _unlimited(self) -> int:
        if self.grid.relative:
            later = sum(1 for _ in islice(self._later(), MOST))
        else:
            later = self.count_in(self.stretch) - sum(map(self.has_slot, self.taken))
        return len(self.waiting) + later

    def _later(self) -> Iterator[datetime]:
        return (slot for slot in self.slots_in(self.stretch) if slot not in self.taken)


def future_of(
    schedule: Schedule | None, rows: Iterable[Draft], window: Stretch, *, grid: Grid
) -> Future:
    """Return the slots that a schedule runs in a window.

    Args:
        schedule: as it is, or as a plan leaves it; None for a schedule that does not exist.
        rows: its executions, with what a plan creates.
        window: the time after now, up to the end of the preview.
        grid: the rule of a schedule that does not exist: it has no slots.
    """
    now = window.after
    if schedule is None:
        return Future(grid, now, Stretch(now, now))
    known = [row for row in rows if row.kind is Kind.SCHEDULED]
    waiting = sorted(row.run_at for row in known if row.run_at <= now and _waits(row))
    ended = (row for row in known if row.state not in (*LIVE, State.SUPERSEDED))
    limit = schedule.definition.limit
    return Future(
        schedule.definition.grid,
        schedule.cursor,
        _running_stretch(schedule, window),
        tuple(waiting),
        frozenset(row.run_at for row in ended if row.run_at > now),
        None if limit is None else max(0, limit - schedule.starts),
    )


def _waits(row: Draft) -> bool:
    return row.state in LIVE and (not isinstance(row, Execution) or row.is_untried)


def _running_stretch(schedule: Schedule, window: Stretch) -> Stretch:
    """Return the part of a window in which a schedule runs its slots."""
    declared, pause = schedule.definition, schedule.pause
    stopped = schedule.deleted or schedule.broken or (pause is not None and pause.until is None)
    if stopped or not declared.enabled:
        return Stretch(window.after, window.after)
    begin = max(window.after, pause.until - TICK) if pause and pause.until else window.after
    end = window.until if declared.until is None else min(window.until, declared.until)
    return Stretch(begin, end)
