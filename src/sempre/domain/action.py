"""Actions: what an operator did to a schedule, execution or switch, for the log of actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.domain.arguments import Json
from sempre.domain.definition import Definition
from sempre.domain.execution import Draft, Execution
from sempre.domain.planning.plan import Plan
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind
from sempre.errors import GridError
from sempre.errors.wording import written_instant, written_length
from sempre.grids.grid import Grid

__all__ = ["Act", "Action", "action_of", "changed_fields", "definition_facts", "schedule_facts"]


@dataclass(frozen=True, kw_only=True)
class Action:
    """One entry of the log of actions, written in the commit of the change itself.

    Attributes:
        id: made by the caller; ids sort by time.
        verb: such as pause, edit or retry.
        target: the kind and name of what was changed: `schedule:NAME`, `execution:ID`,
            `switch:NAME`, `job:NAME`, `worker:ID`, `queue:NAME` of what was healed, `schedules`
            for many, or `store:ID` of an imported store.
        actor: who acted.
        note: why, as the actor wrote.
        before: the fields that changed, with their values before the action.
        after: those fields with their values after the action.
        at: the store's now; None until the store has written the action.
    """

    id: str
    verb: str
    target: str
    actor: str = ""
    note: str = ""
    before: Json = None
    after: Json = None
    at: datetime | None = None


class Act(NamedTuple):
    """The verb, target, actor and note of an action, before its effect is known."""

    verb: str
    target: str
    actor: str = ""
    note: str = ""


def action_of(act: Act, plan: Plan, identity: str) -> Action:
    """Return the action that a plan carries out: the fields that differ, before and after.

    Executions that the plan changes or creates besides its schedule are listed by slot and state.
    """
    before, after = changed_fields(plan.base, plan.schedule)
    if after.get("deleted") and plan.schedule is not None:
        # No name leads to a deleted schedule any more; its executions are found by this id.
        after["id"] = plan.schedule.id
    rows = [change for change in plan.changes if not change.before.waits_for_slot]
    if rows:
        before["executions"] = [_execution_facts(change.before) for change in rows]
        after["executions"] = [_execution_facts(change.after) for change in rows]
    asked = [draft for draft in plan.creates if draft.kind is not Kind.SCHEDULED or draft.reason]
    if asked:
        after["created"] = _created_facts(asked)
    return Action(id=identity, **act._asdict(), before=before or None, after=after or None)


def changed_fields(
    before: Schedule | None, after: Schedule | None
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the fields of a schedule that differ, before and after."""
    if before is None or after is None:
        return {}, {}
    old, new = schedule_facts(before), schedule_facts(after)
    names = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
    return {name: old.get(name) for name in names}, {name: new.get(name) for name in names}


def schedule_facts(schedule: Schedule) -> dict[str, Json]:
    """Return what an operator can change about a schedule."""
    facts = definition_facts(schedule.definition)
    pause = schedule.pause
    facts["name"] = schedule.name
    facts |= {"deleted": schedule.deleted, "paused": pause is not None}
    if pause is not None:
        until = written_instant(pause.until) if pause.until else None
        facts |= {"paused_until": until, "pause_note": pause.note}
    return facts


def definition_facts(definition: Definition) -> dict[str, Json]:
    """Return the fields of a definition as a person reads them."""
    return {name: _fact(value) for name, value in vars(definition).items()}


def _fact(value: object) -> Json:
    """Return a field of a definition as a person reads it."""
    match value:
        case None | bool() | int() | str():
            fact: Json = value
        case datetime():
            fact = written_instant(value)
        case timedelta():
            fact = written_length(value)
        case Mapping():
            fact = dict(value)
        case tuple():
            fact = [_fact(each) for each in value]
        case Grid():
            fact = _grid_fact(value)
        case _:
            fact = repr(value)
    return fact


def _grid_fact(grid: Grid) -> Json:
    """Return the stored form of a grid; its text if its class has none, as in a memory store."""
    try:
        return grid.to_json()
    except GridError:
        return repr(grid)


def _execution_facts(row: Execution) -> dict[str, Json]:
    slot = written_instant(row.run_at)
    return {"id": row.id, "slot": slot, "state": row.state.value, "reason": row.reason}


def _created_facts(drafts: list[Draft]) -> dict[str, Json]:
    slots = sorted(draft.run_at for draft in drafts)
    first, last = written_instant(slots[0]), written_instant(slots[-1])
    return {"kind": drafts[0].kind.value, "count": len(drafts), "first": first, "last": last}
