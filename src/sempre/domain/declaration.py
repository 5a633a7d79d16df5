"""Declarations: the definition of a schedule in code, stored beside what operators changed since.

A deploy changes only the fields whose declared value has changed: an operator's edits of the other
fields stay. Code of an older release changes nothing. A schedule that the code of its owner no
longer declares is disabled, and a deploy that declares it again enables it; an operator's disable
stays. A name belongs to one owner: code of another owner is refused, unless it adopts the schedule.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from sempre.domain.arguments import Json, are_same_json
from sempre.domain.declaration_marks import (
    MARKS,
    FormerOwner,
    RefusedDeploy,
    former_owner,
    is_dropped_since,
    is_gone,
    is_pruned,
    marked_as_gone,
    marked_as_refused,
    newest_release,
    refused_deploy,
    with_former_owner,
    without_refusal,
    write_declaration,
)
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.ownership import Standing, standing_of
from sempre.domain.planning.plan import Plan, PlanningTime
from sempre.domain.planning.verbs import plan_disable, plan_edit
from sempre.domain.rules import read_definition, write_rules
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.errors.owners import OwnedByAnother, OwnedName

__all__ = [
    "declaration_of",
    "declared_definition",
    "plan_declare",
    "plan_prune",
    "plan_refuse",
]

# A worker that restarts in a loop is refused each time; the refusal is recorded once an hour.
NOTED_AGAIN_AFTER = timedelta(hours=1)


def declaration_of(definition: Definition, release: int) -> str:
    """Return a declaration as text; equal declarations give equal texts."""
    rules = json.loads(write_rules(definition))
    return write_declaration({**rules, "args": definition.args, "release": release})


def declared_definition(declared: str) -> Definition | None:
    """Return the definition that code last declared; None if no code declares the schedule."""
    if not declared:
        return None
    said = {name: value for name, value in json.loads(declared).items() if name not in MARKS}
    args = said.pop("args", {})
    return copy_with(read_definition(write_declaration(said)), args=args)


def plan_declare(
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    to: Definition,
    release: int = 0,
    adopt: bool = False,
) -> Plan:
    """Edit a schedule where its declaration has changed since the last deploy.

    A schedule that an earlier deploy disabled because the code had dropped it is enabled again.
    Code of a release below the newest that declared or dropped the schedule changes nothing.

    Raises:
        OwnedByAnother: the schedule belongs to another owner, and `adopt` is False.
    """
    standing = standing_of(schedule, owner=to.owner, release=release)
    if standing is Standing.TAKEN and not adopt:
        owned = OwnedName(schedule.name, schedule.definition.owner, declared_as=to.owner)
        raise OwnedByAnother([owned])
    own = standing is Standing.OWN
    former = former_owner(schedule.declared) if own else FormerOwner(schedule.definition.owner)
    text = with_former_owner(declaration_of(to, release), former)
    newest = newest_release(schedule.declared)
    is_behind = own and newest is not None and newest > release
    is_known = own and without_refusal(schedule.declared) == text
    if standing is Standing.OUTDATED or is_behind or is_known:
        return Plan(schedule, schedule)
    edited = _edited(schedule, to, text)
    plan = plan_edit(schedule, rows, moment, to=edited, actor="code")
    return _declaring(schedule, plan, text)


def _edited(schedule: Schedule, to: Definition, text: str) -> Definition:
    """Return a schedule's definition with the fields whose declared value has changed."""
    before = json.loads(schedule.declared) if schedule.declared else {}
    after = json.loads(text)
    # A field that is left out has its default.
    declared = ({*before, *after} & vars(to).keys()) - set(MARKS)
    names = {name for name in declared if not _is_same(name, before, after)}
    # The owner too, if an operator has changed it since.
    names.add("owner")
    if is_pruned(schedule.declared):
        names.add("enabled")
    return replace(schedule.definition, **{name: getattr(to, name) for name in names})


def plan_refuse(
    schedule: Schedule, _rows: Iterable[Execution], moment: PlanningTime, *, owner: str | None
) -> Plan:
    """Record in a schedule that code of another owner declared it and was refused.

    Definition and rows stay. A repeated refusal is recorded once an hour. A schedule that was made
    at run time has no declaration, so that no refusal is recorded in it.
    """
    known = refused_deploy(schedule.declared)
    is_noted = known and known.owner == owner and moment.now - known.at < NOTED_AGAIN_AFTER
    if is_noted or not schedule.declared:
        return Plan(schedule, schedule)
    text = marked_as_refused(schedule.declared, RefusedDeploy(owner, moment.now))
    return _declaring(schedule, Plan(schedule, schedule), text)


def plan_prune(
    schedule: Schedule, rows: Iterable[Execution], moment: PlanningTime, *, release: int
) -> Plan:
    """Disable a schedule that the code of its owner no longer declares, and record the release.

    This happens once: a later decision of an operator stays. A release below the newest that
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
    """Return a plan that also stores a declaration.

    The revision rises even if nothing else changes, so that the store refuses older plans: they
    would restore the old declaration.
    """
    after = plan.schedule or schedule
    declared = copy_with(after, declared=text, revision=schedule.revision + 1)
    return copy_with(plan, schedule=declared)


def _is_same(name: str, before: dict[str, Json], after: dict[str, Json]) -> bool:
    return name in before and name in after and are_same_json(before[name], after[name])
