"""Declarations: what code says a schedule is, kept beside what operators made of it since.

A deploy changes the fields whose declared value has changed, and no other: an operator's edit of
the rest stays. Code of an older release changes nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

from sempre.domain.arguments import Json, are_same_json
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.planning.sheet import Moment, Plan
from sempre.domain.planning.verbs import plan_edit
from sempre.domain.rules import write_rules
from sempre.domain.schedule import Schedule
from sempre.domain.values import changed

__all__ = ["declaration_of", "plan_declare"]

RELEASE = "release"


def declaration_of(definition: Definition, release: int) -> str:
    """Return a declaration as text; equal ones are equal texts."""
    said = {**json.loads(write_rules(definition)), "args": definition.args, RELEASE: release}
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
    # A revision even if nothing else has changed: a plan from before would write it back.
    said = {"declared": text, "revision": schedule.revision + 1}
    return changed(plan, schedule=changed(plan.schedule, **said))


def _is_same(name: str, before: dict[str, Json], after: dict[str, Json]) -> bool:
    return name in before and are_same_json(before[name], after[name])
