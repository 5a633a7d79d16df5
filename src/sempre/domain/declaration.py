"""Declarations: what code says a schedule is, kept beside what operators made of it since.

A deploy changes the fields whose declared value has changed, and no other: an operator's edit of
the rest stays. Code of an older release changes nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.arguments import Json, are_same_json
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.planning.sheet import Moment, Plan
from sempre.domain.planning.verbs import plan_edit
from sempre.domain.policies import Retry
from sempre.domain.schedule import Schedule
from sempre.domain.values import changed
from sempre.grids.grid import Grid

__all__ = ["declaration_of", "plan_declare"]

RELEASE = "release"


def declaration_of(definition: Definition, release: int) -> str:
    """Return a declaration as text; equal ones are equal texts."""
    said: dict[str, Json] = {RELEASE: release}
    for each in fields(definition):
        said[each.name] = _plain(getattr(definition, each.name))
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def plan_declare(
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: Moment,
    *,
    to: Definition,
    release: int = 0,
) -> Plan:
    """Bring a schedule to what the code declares, where that has changed since it last did."""
    text = declaration_of(to, release)
    before = json.loads(schedule.declared) if schedule.declared else {}
    if schedule.declared == text or before.get(RELEASE, release) > release:
        return Plan(schedule, schedule)
    after = json.loads(text)
    names = [name for name in after if name != RELEASE and not _is_same(name, before, after)]
    edited = replace(schedule.definition, **{name: getattr(to, name) for name in names})
    plan = plan_edit(schedule, rows, moment, to=edited, actor="code")
    if plan.schedule is None:
        return plan
    return changed(plan, schedule=changed(plan.schedule, declared=text))


def _is_same(name: str, before: dict[str, Json], after: dict[str, Json]) -> bool:
    return name in before and are_same_json(before[name], after[name])


def _plain(value: Any) -> Json:
    """Return a field's value as JSON, for comparison only."""
    match value:
        case Grid():
            return value.to_json()
        case Retry(limit=limit, base=base, cap=cap):
            return [limit, _plain(base), _plain(cap)]
        case timedelta():
            return value // timedelta(microseconds=1)
        case datetime():
            return value.isoformat()
        case tuple():
            return list(value)
        case _:
            plain: Json = value
            return plain
