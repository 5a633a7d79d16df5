"""Differences between declarations and the store, field by field, and whose they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sempre.app.changes.change_plan import ChangePlan
from sempre.app.changes.planner import KeptPlan
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Declared
from sempre.domain.action import changed_fields, definition_facts
from sempre.domain.arguments import Json, are_same_json
from sempre.domain.declaration import declared_definition
from sempre.domain.declaration_marks import is_gone
from sempre.domain.definition import Definition
from sempre.domain.planning import Plan
from sempre.domain.schedule import Schedule
from sempre.engine.core import Engine
from sempre.errors import NotFound

__all__ = ["FieldDifference", "ScheduleDifference", "differences", "differences_of_plan"]

By = Literal["code", "operator", "both", "plan"]
"""Whose difference a field is.

code: the code has changed; a deploy applies it.
operator: an operator edited the stored schedule; a deploy keeps it.
both: an operator edited the field, and the code has changed it too; a deploy overwrites the edit.
plan: the step of a plan changes it.
"""


@dataclass(frozen=True)
class FieldDifference:
    """A field that differs.

    Attributes:
        wanted: in the code, in the file, or after the plan.
        stored: in the store.
        declared: what code last declared; None if no code has.
    """

    name: str
    wanted: Json
    stored: Json
    declared: Json = None
    by: By = "code"


@dataclass(frozen=True)
class ScheduleDifference:
    """A schedule that differs: it is missing, is only in the store, or has other fields.

    Attributes:
        redact: names whose values are masked where the fields are shown.
    """

    name: str
    kind: Literal["missing", "only in the store", "different"]
    fields: tuple[FieldDifference, ...] = ()
    redact: tuple[str, ...] = ()


def differences(
    engine: Engine, schedules: Mapping[str, Declared], *, owner: str | None
) -> Iterator[ScheduleDifference]:
    """Yield how the store differs from declarations, by name of schedule.

    Under an owner, schedules that code of this owner has declared and these declarations lack
    differ too. Without an owner, such schedules may belong to any code.
    """
    views = engine.read(engine.store.views(list(schedules)))
    found = {view.schedule.name: view.schedule for view in views}
    names = {*schedules, *_only_stored(engine, schedules, owner)}
    for name in sorted(names):
        if name not in schedules:
            yield ScheduleDifference(name, "only in the store")
        elif name not in found:
            yield ScheduleDifference(name, "missing")
        elif fields := _fields(schedules[name].definition, found[name]):
            redact = _redact(schedules[name].definition, found[name].definition)
            yield ScheduleDifference(name, "different", fields, redact)


def differences_of_plan(
    engine: Engine, plan: ChangePlan, *, actor: str
) -> Iterator[ScheduleDifference]:
    """Yield what the steps of a plan would change in the store as it is now."""
    for planned in plan.steps:
        name = planned.step.name
        if planned.step.verb == "create":
            if not engine.read(engine.store.views([name])):
                yield ScheduleDifference(name, "missing")
            continue
        kept = KeptPlan()
        try:
            planned.step.perform(engine, kept, actor=actor, tasks={})
        except NotFound:
            continue
        if kept.plan is not None and not kept.plan.is_empty:
            yield _difference_of(name, kept.plan)


def _difference_of(name: str, plan: Plan) -> ScheduleDifference:
    before, after = changed_fields(plan.base, plan.schedule)
    fields = (FieldDifference(each, after[each], before[each], by="plan") for each in after)
    both = [each.definition for each in (plan.base, plan.schedule) if each]
    return ScheduleDifference(name, "different", tuple(fields), _redact(*both))


def _redact(*definitions: Definition) -> tuple[str, ...]:
    return tuple(sorted({name for each in definitions for name in each.redact}))


def _only_stored(
    engine: Engine, schedules: Mapping[str, Declared], owner: str | None
) -> Iterator[str]:
    """Yield enabled schedules of an owner that are declared no more."""
    if owner is None:
        return
    for each in Schedules(engine):
        is_ours = each.definition.owner == owner and each.declared and not is_gone(each.declared)
        if is_ours and each.name not in schedules:
            yield each.name


def _fields(wanted: Definition, schedule: Schedule) -> tuple[FieldDifference, ...]:
    last = declared_definition(schedule.declared)
    new, old = definition_facts(wanted), definition_facts(schedule.definition)
    said = definition_facts(last) if last else {}
    return tuple(
        FieldDifference(name, new[name], old[name], said.get(name), _by(name, new, old, said))
        for name in new
        if not are_same_json(new[name], old[name])
    )


def _by(
    name: str, new: Mapping[str, Json], old: Mapping[str, Json], said: Mapping[str, Json]
) -> By:
    if name not in said or are_same_json(said[name], old[name]):
        return "code"
    return "operator" if are_same_json(said[name], new[name]) else "both"
