"""Declarations: what code says a schedule is, kept beside what operators made of it since.

A deploy changes the fields whose declared value has changed, and no other: an operator's edit of
the rest stays. Code of an older release changes nothing. A schedule that its owner's code declares
no more is disabled, and enabled again by a deploy that declares it; an operator's disable stays.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

from sempre.domain.arguments import Json, are_same_json
from sempre.domain.declaration_marks import (
    MARKS,
    is_dropped_since,
    is_gone,
    is_pruned,
    marked_as_gone,
    newest_release,
    write_declaration,
)
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.planning.sheet import Moment, Plan
from sempre.domain.planning.verbs import plan_disable, plan_edit
from sempre.domain.rules import write_rules
from sempre.domain.schedule import Schedule
from sempre.domain.values import changed

__all__ = ["declaration_of", "plan_declare", "plan_prune"]


def declaration_of(definition: Definition, release: int) -> str:
    """Return a declaration as text; equal ones are equal texts."""
    rules = json.loads(write_rules(definition))
    return write_declaration({**rules, "args": definition.args, "release": release})


def plan_declare(
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: Moment,
    *,
    to: Definition,
    release: int = 0,
) -> Plan:
    """Bring a schedule to what the code declares, where that has changed since it last did.

    A schedule that an earlier deploy disabled because its code had dropped the schedule is enabled
    again. Code below the newest release that declared or dropped the schedule changes nothing.
    """
    text = declaration_of(to, release)
    newest = newest_release(schedule.declared)
    if schedule.declared == text or (newest is not None and newest > release):
        return Plan(schedule, schedule)
    before = json.loads(schedule.declared) if schedule.declared else {}
    after = json.loads(text)
    names = {name for name in after if name not in MARKS and not _is_same(name, before, after)}
    if is_pruned(schedule.declared):
        names.add("enabled")
    edited = replace(schedule.definition, **{name: getattr(to, name) for name in names})
    plan = plan_edit(schedule, rows, moment, to=edited, actor="code")
    return _declaring(schedule, plan, text)


def plan_prune(
    schedule: Schedule, rows: Iterable[Execution], moment: Moment, *, release: int
) -> Plan:
    """Disable a schedule that the code of its owner declares no more, and note by which release.

    Once only: what an operator decides afterwards stays. A release below the newest one that
    declared or dropped the schedule changes nothing.
    """
    plan = Plan(schedule, schedule)
    if schedule.deleted or not is_dropped_since(schedule.declared, release):
        return plan
    disables = schedule.definition.enabled and not is_gone(schedule.declared)
    if disables:
        plan = plan_disable(schedule, rows, moment, actor="code")
    text = marked_as_gone(schedule.declared, release, pruned=disables)
    return _declaring(schedule, plan, text)


def _declaring(schedule: Schedule, plan: Plan, text: str) -> Plan:
    """Return a plan that stores a declaration too.

    With a revision even if nothing else changes: a plan from before would write the old one back.
    """
    after = plan.schedule or schedule
    said = {"declared": text, "revision": schedule.revision + 1}
    return changed(plan, schedule=changed(after, **said))


def _is_same(name: str, before: dict[str, Json], after: dict[str, Json]) -> bool:
    return name in before and are_same_json(before[name], after[name])
