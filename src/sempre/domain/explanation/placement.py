"""Placement: whether an instant is a slot of a grid, and what the clocks of the zone did to it."""

from datetime import UTC, datetime, timedelta

from sempre.domain.explanation.causes import Cause, Code, Fact
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.slots import GRID_ERRORS, newest_slots
from sempre.errors import SempreError
from sempre.grids.cron import Cron
from sempre.grids.every import DEFAULT_ANCHOR, Every
from sempre.grids.grid import Grid, following
from sempre.grids.instants import as_instant
from sempre.grids.wall_clock import gap_before, showings_of, wall_of

__all__ = ["causes_on_grid", "is_slot", "why_not_a_slot", "zone_of_grid"]

LONGEST_SEARCH = timedelta(days=3 * 366)
DAYS = {"days": 1, "weeks": 7}
MONTHS = {"months": 1, "years": 12}


def zone_of_grid(grid: Grid | None) -> str:
    """Return the name of a grid's time zone; UTC for a grid without one."""
    return str(getattr(grid, "timezone", "UTC"))


def is_slot(grid: Grid, instant: datetime) -> bool | None:
    """Return whether an instant is a slot of a grid; None if this process cannot compute that.

    The slots of a relative grid depend on one another: only rows have them.
    """
    if grid.relative:
        return None
    try:
        return following(grid, instant - TICK) == instant
    except (*GRID_ERRORS, SempreError):
        return None


def causes_on_grid(grid: Grid, slot: datetime) -> list[Cause]:
    """Return why a slot of a grid is where it is."""
    zone = zone_of_grid(grid)
    rule: dict[str, Fact] = {"rule": grid.explain(), "zone": zone}
    causes = [Cause(Code.ON_GRID, None, rule)]
    if not isinstance(grid, Cron | Every) or (isinstance(grid, Every) and grid.is_elapsed):
        return causes + (_anchored(grid, slot, None) if isinstance(grid, Every) else [])
    meant = _shifted_from(grid, slot)
    if isinstance(grid, Every):
        causes += _anchored(grid, slot, meant)
    if meant is not None:
        facts: dict[str, Fact] = {"wall": _shown(meant), "zone": zone, "slot": slot}
        return [*causes, Cause(Code.GAP_SHIFTED, None, facts)]
    return causes + _fold(slot, zone)


def why_not_a_slot(
    grid: Grid, instant: datetime, *, wall: datetime | None = None, since: datetime
) -> list[Cause]:
    """Return why an instant is no slot of a grid, with the nearest slots.

    Args:
        grid: in force at the instant.
        instant: the instant that was asked for.
        wall: the wall time that was asked for, if it was one.
        since: no slot before this instant is mentioned: the schedule did not exist.
    """
    zone = zone_of_grid(grid)
    if isinstance(grid, Every) and instant < (anchor := _anchor_of(grid)):
        return [Cause(Code.BEFORE_ANCHOR, None, {"anchor": anchor, "zone": zone})]
    nearest = _nearest(grid, instant, since)
    gap = showings_of(wall, zone).gap if wall is not None else None
    if gap is not None and getattr(grid, "gap", "") == "skip":
        facts: dict[str, Fact] = {"wall": _shown(wall or gap.first), "zone": zone, **nearest}
        return [Cause(Code.GAP_SKIPPED, None, facts)]
    causes = [Cause(Code.NOT_ON_GRID, None, {"rule": grid.explain(), "zone": zone, **nearest})]
    if gap is not None:
        facts = {"wall": _shown(wall or gap.first), "zone": zone, "resumes": _shown(gap.resumes)}
        causes.insert(0, Cause(Code.ASKED_IN_GAP, None, facts))
    return causes


def _nearest(grid: Grid, instant: datetime, since: datetime) -> dict[str, Fact]:
    """Return the slots before and after an instant."""
    try:
        after = following(grid, instant)
        begin = max(since, instant - LONGEST_SEARCH) - TICK
        before = newest_slots(grid, begin, instant - TICK, 1) if begin < instant - TICK else []
    except (*GRID_ERRORS, SempreError):
        return {"before": None, "after": None}
    return {"before": before[0] if before else None, "after": after}


def _shifted_from(grid: Cron | Every, slot: datetime) -> datetime | None:
    """Return the wall time that the clocks skipped, if the slot was moved for that reason."""
    zone = grid.timezone
    plain = type(grid)(**{**grid.parameters(), "gap": "skip"})
    if grid.gap == "skip" or is_slot(plain, slot):
        return None
    if isinstance(grid, Cron):
        gap = gap_before(slot, zone)
        if gap is None:
            return None
        # The rule on a clock that never changes.
        steady = Cron(grid.text, timezone="UTC")
        first = following(steady, gap.first.replace(tzinfo=UTC) - TICK)
        return first.replace(tzinfo=None) if first else None
    return _before_gap(slot, zone)


def _before_gap(slot: datetime, zone: str) -> datetime | None:
    """Return the wall time from which a gap moved a slot, by the length of the gap."""
    wall = wall_of(slot, zone)
    for minutes in range(15, 4 * 60, 15):
        meant = wall - timedelta(minutes=minutes)
        found = showings_of(meant, zone)
        if found.gap is not None and slot in found.instants:
            return meant
    return None


def _fold(slot: datetime, zone: str) -> list[Cause]:
    """Return which showing of a wall time a slot is, if the clocks show the time twice."""
    wall = wall_of(slot, zone)
    showings = showings_of(wall, zone).instants
    if len(showings) == 1:
        return []
    code = Code.FOLD_FIRST if slot == showings[0] else Code.FOLD_SECOND
    return [Cause(code, None, {"wall": _shown(wall), "zone": zone})]


def _anchored(grid: Every, slot: datetime, meant: datetime | None) -> list[Cause]:
    """Return which point of anchor + N * interval a slot is, if the grid states its anchor."""
    if grid.anchor is None:
        return []
    anchor, interval = _anchor_of(grid), grid.interval
    if grid.is_elapsed:
        passed = grid.passed(anchor - TICK, slot)
        number = passed.count - 1 if passed else 0
    else:
        wall, first = meant or wall_of(slot, grid.timezone), wall_of(anchor, grid.timezone)
        if interval.unit in DAYS:
            number = (wall.date() - first.date()).days // (DAYS[interval.unit] * interval.count)
        else:
            months = (wall.year - first.year) * 12 + wall.month - first.month
            number = months // (MONTHS[interval.unit] * interval.count)
    facts: dict[str, Fact] = {"anchor": anchor, "number": number, "interval": str(interval)}
    return [Cause(Code.ANCHORED, None, facts)]


def _anchor_of(grid: Every) -> datetime:
    moment = grid.anchor or DEFAULT_ANCHOR
    if moment.utcoffset() is not None:
        return as_instant("anchor", moment)
    return showings_of(moment, grid.timezone).instants[0]


def _shown(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
