"""Definitions in force: which grid a schedule had at an instant, from the log of actions.

The log has the fields that each change replaced. Read backwards from the present definition, it
tells every definition before. A deploy is not logged: where an entry does not lead to the
definition that is known after it, the definition in between is unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.schedule import Schedule
from sempre.errors import SempreError
from sempre.grids.grid import Grid

__all__ = ["InForce", "definitions_in_force"]


@dataclass(frozen=True)
class InForce:
    """What a schedule was defined as in a period.

    Attributes:
        since: the first instant of the period, exclusive: slots after it follow this definition.
        until: the last instant of the period, inclusive; None for the present definition.
        grid: the rule of the slots; None if it is unknown.
        enabled: whether the schedule was enabled; None if it is unknown.
        paused: whether an operator had paused the schedule; None if it is unknown.
    """

    since: datetime
    until: datetime | None
    grid: Grid | None
    enabled: bool | None
    paused: bool | None


def definitions_in_force(
    schedule: Schedule, actions: Iterable[Action], *, known_since: datetime | None = None
) -> list[InForce]:
    """Return the definitions of a schedule from its creation on, oldest first.

    Args:
        schedule: the schedule as it is now.
        actions: the logged changes of the schedule, in any order.
        known_since: before this instant the log is purged, and definitions are unknown.
    """
    found: list[InForce] = []
    facts = {
        "grid": _stored(schedule.definition.grid),
        "enabled": schedule.definition.enabled,
        "paused": schedule.pause is not None,
    }
    until: datetime | None = None
    for at, action in sorted(_changes(actions), key=lambda each: each[0], reverse=True):
        before, after = _fields(action.before), _fields(action.after)
        names = [name for name in facts if name in before or name in after]
        if at <= schedule.created_at or not names:
            continue
        agrees = {name: name not in after or after[name] == facts[name] for name in facts}
        found.append(_in_force(at, until, facts, agrees))
        facts |= {name: before.get(name) for name in names}
        until = at
    found.append(_in_force(schedule.created_at, until, facts, dict.fromkeys(facts, True)))
    if found[0].grid is None and _stored(schedule.definition.grid) is None:
        # A grid without a stored form, as in a memory store, is known as an object only.
        found[0] = replace(found[0], grid=schedule.definition.grid)
    return [_forgotten(each, known_since) for each in reversed(found)]


def _changes(actions: Iterable[Action]) -> Iterable[tuple[datetime, Action]]:
    return ((each.at, each) for each in actions if each.at is not None)


def _fields(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _in_force(
    since: datetime,
    until: datetime | None,
    facts: Mapping[str, Json],
    agrees: Mapping[str, bool],
) -> InForce:
    grid = _read(facts["grid"]) if agrees["grid"] else None
    enabled = facts["enabled"] if agrees["enabled"] else None
    paused = facts["paused"] if agrees["paused"] else None
    return InForce(since, until, grid, _flag(enabled), _flag(paused))


def _forgotten(known: InForce, since: datetime | None) -> InForce:
    """Return a definition as unknown if the log of the changes after its period is purged."""
    if since is None or known.until is None or known.until >= since:
        return known
    return InForce(known.since, known.until, None, None, None)


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _stored(grid: Grid) -> Json:
    """Return the stored form of a grid; None for a grid without one, as in a memory store."""
    try:
        return grid.to_json()
    except SempreError:
        return None


def _read(stored: Json) -> Grid | None:
    try:
        return Grid.from_json(stored) if isinstance(stored, dict) else None
    except SempreError:
        return None
