"""Suggestions: which schedules to move or to spread, and the peak that follows, computed.

Each suggestion is tried: the load is computed again with the edited schedules. The edits that
are tried are few: a jitter for all schedules of the peak, and a later minute for the longest.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import add

from sempre.domain.forecast.impulses import UNIT, Impulses
from sempre.domain.forecast.load import Group, add_concurrency, in_runs
from sempre.domain.forecast.recurrence import Window
from sempre.errors.wording import written_instant, written_length
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid

__all__ = ["Suggestion", "suggestions"]

MOST = 3
JITTERS = tuple(timedelta(minutes=each) for each in (1, 5, 15, 30))
MOVES = tuple(timedelta(minutes=each) for each in (10, 30))
MOST_MOVED = 2
# A larger change must lower the peak by one run and by this share more than a smaller one.
WORTH = 0.1
# A suggestion lowers the peak by one run and by this share at least.
LEAST_GAIN = 0.05
# The shares of a jitter are rounded down, so that a whole run is a little less than one.
ONE_RUN = 0.99 * UNIT
# A jitter up to this part of the interval keeps the rhythm of a schedule.
PART = 4
MINUTE = timedelta(minutes=1)
LAST_MINUTE = 59
LATER_FIELDS = 4


@dataclass(frozen=True)
class Suggestion:
    """An edit of schedules that lowers the highest expected concurrency, by p95.

    Attributes:
        names: the schedules to edit.
        options: the options of `sempre edit`.
        before: the peak without the edit, after the suggestions before this one.
        after: the peak with the edit.
    """

    names: tuple[str, ...]
    options: tuple[str, ...]
    before: float
    after: float

    @property
    def command(self) -> str:
        """The command for the first schedule; the same options fit the others."""
        return self.command_for(self.names[0])

    def command_for(self, name: str) -> str:
        """Return the command for one of the schedules."""
        return shlex.join(["sempre", "edit", name, *self.options])


@dataclass(frozen=True)
class _Edit:
    options: tuple[str, ...]
    old: Sequence[Group]
    new: Sequence[Group]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(name for group in self.old for name in group.names))


def suggestions(
    groups: Sequence[Group], levels: Sequence[int], window: Window
) -> tuple[Suggestion, ...]:
    """Return at most three edits, each tried after those before it.

    Args:
        groups: all groups of the window.
        levels: the concurrency by p95 at each second.
        window: the window of the forecast.
    """
    found: list[Suggestion] = []
    known = list(groups)
    for _ in range(MOST):
        peak = max(levels, default=0)
        at_peak = _in_flight(known, levels.index(peak)) if peak else []
        best = _best([(edit, _tried(levels, edit)) for edit in _edits(at_peak, window)])
        if best is None or peak - max(best[1]) < max(ONE_RUN, LEAST_GAIN * peak):
            break
        edit, levels = best
        before, after = in_runs(peak), in_runs(max(levels))
        found.append(Suggestion(edit.names, edit.options, before, after))
        edited = set(map(id, edit.old))
        known = [each for each in known if id(each) not in edited] + list(edit.new)
    return tuple(found)


def _in_flight(groups: Sequence[Group], second: int) -> list[Group]:
    """Return the groups with a run in flight at a second that an edit can move."""
    return [
        group
        for group in groups
        if group.width == 1
        and group.slots.count_between(second - group.longest + 1, second + 1)
        and _room(group) >= JITTERS[0]
    ]


def _room(group: Group) -> timedelta:
    """Return the largest jitter that keeps the rhythm of a group."""
    interval = group.slots.interval
    return JITTERS[-1] if interval is None else timedelta(seconds=interval) / PART


def _edits(groups: Sequence[Group], window: Window) -> Iterator[_Edit]:
    """Yield edits from the smallest to the largest change."""
    longest = sorted(groups, key=lambda each: -each.pattern.seconds[1])
    for group in longest[:MOST_MOVED]:
        moves = MOVES if len(group.names) == 1 else ()
        for by in moves:
            moved = _moved(group.pattern.grid, by)
            if moved is not None and _room(group) * PART > by:
                grid, options = moved
                yield _Edit(options, [group], [group.with_pattern(window, grid=grid)])
    for jitter in JITTERS:
        some = [group for group in groups if _room(group) >= jitter]
        if some:
            spread = [group.with_pattern(window, jitter=jitter) for group in some]
            yield _Edit(("--jitter", written_length(jitter)), some, spread)


def _moved(grid: Grid, by: timedelta) -> tuple[Grid, tuple[str, ...]] | None:
    """Return a grid a few minutes later, and the options of the edit; None if it has none."""
    if isinstance(grid, Cron):
        minute, *others = grid.text.split()
        later = str(int(minute) + by // MINUTE) if minute.isdigit() else ""
        if not later or int(later) > LAST_MINUTE or len(others) != LATER_FIELDS:
            return None
        text = " ".join([later, *others])
        return Cron(text, timezone=grid.timezone, gap=grid.gap, fold=grid.fold), ("--cron", text)
    if isinstance(grid, Every) and grid.anchor is not None:
        anchor = grid.anchor + by
        moved = Every(**{**grid.parameters(), "anchor": anchor})
        return moved, ("--anchor", written_instant(anchor))
    return None


def _tried(levels: Sequence[int], edit: _Edit) -> list[int]:
    """Return the concurrency at each second after an edit."""
    change = Impulses(len(levels))
    for old, new in zip(edit.old, edit.new, strict=True):
        add_concurrency(change, old, -1)
        add_concurrency(change, new)
    return list(map(add, levels, change.levels()))


def _best(tried: Sequence[tuple[_Edit, list[int]]]) -> tuple[_Edit, list[int]] | None:
    """Return the edit with the lowest peak; a smaller change wins if it is nearly as good."""
    if not tried:
        return None
    highs = [max(levels) for _, levels in tried]
    enough = min(highs) + max(UNIT, WORTH * min(highs))
    return next(each for each, high in zip(tried, highs, strict=True) if high <= enough)
