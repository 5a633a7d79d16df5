"""Changes by the JSON API: acts, plans and their application, backfill, enqueue."""

import hashlib
import json
from datetime import datetime
from typing import Any

from sempre.app.changes.change_plan import ChangePlan
from sempre.app.changes.planner import KeptPlan
from sempre.app.changes.preview_json import plan_json, switch_json
from sempre.app.enqueue.named_job import NamedJob
from sempre.app.presentation.executions import EXECUTION
from sempre.app.presentation.switches import switch_target
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.app.times import json_instant
from sempre.domain.planning.plan import TICK
from sempre.errors import InvalidInput, Refused
from sempre.errors.changes import MovedOn
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_in_zone
from sempre.web.acts import Act, perform
from sempre.web.answers import JsonAnswer
from sempre.web.api.operations import Given
from sempre.web.visit import Visit

__all__ = ["act_on", "apply", "backfill", "enqueue", "plan", "plan_switch"]

Fields = dict[str, Any]
LOST = 409
ONE_AT_A_TIME = ("edit", "skip")


def act_on(visit: Visit, given: Given, *, act: Act) -> JsonAnswer:
    """Act on each target, and return the effect on each; status 409 if one had none."""
    targets = given["target"] if isinstance(given["target"], list) else [given["target"]]
    fields = {name: str(value) for name, value in given.items() if value and name != "target"}
    try:
        effects = perform(act, visit.operator, targets, fields)
    finally:
        visit.shared.forget()
    results = [
        {"target": each.target, "done": each.done, "message": each.message} for each in effects
    ]
    status = 200 if all(each.done for each in effects) else LOST
    return JsonAnswer({"v": 1, "act": f"{act.kind}.{act.verb}", "results": results}, status)


# Plans


def plan(visit: Visit, given: Given) -> Fields:
    """Preview a change of schedules; nothing is written."""
    made = _planned(visit, given)
    return {"plan": plan_json(made, visit.redact), "token": _token(made, given)}


def apply(visit: Visit, given: Given) -> Fields:
    """Plan the change again, and apply it if the preview with that token is still true."""
    made = _planned(visit, given)
    base, _, promises = _token(made, given).partition("-")
    known_base, _, known_promises = given["token"].partition("-")
    if base != known_base:
        raise MovedOn(["a schedule has changed, or the request is another"])
    if promises != known_promises and not given["late"]:
        raise MovedOn(["slots or executions that the plan changes have passed; late applies it"])
    try:
        applied = visit.operator.apply(made, late=True)
    finally:
        visit.shared.forget()
    return {
        "applied": [
            {**vars(each), "next_run_at": json_instant(each.next_run_at)} for each in applied
        ],
        "unchanged": list(made.unchanged),
    }


def plan_switch(visit: Visit, given: Given) -> Fields:
    """Preview what a switch would stop; nothing is switched."""
    stored = visit.operator.switch(switch_target(visit.reader, given["target"]))
    switch = stored.planned("", mode=given["mode"], until=given["until"] or None)
    planner = visit.operator.plan.covering(given["days"], listed=given["listed"])
    return {"switch": switch_json(planner.switch_off(switch))}


def _planned(visit: Visit, given: Given) -> ChangePlan:
    planner = visit.operator.plan.covering(given["days"], listed=given["listed"])
    verb, why = given["verb"], given["why"] or ""
    names = given["target"] if isinstance(given["target"], list) else [given["target"]]
    if verb in ONE_AT_A_TIME and len(names) != 1:
        raise InvalidInput("target", len(names), allowed=f"one schedule to {verb}")
    for name, of in (("changes", "edit"), ("until", "pause"), ("at", "skip")):
        if given[name] and verb != of:
            raise InvalidInput(name, given[name], allowed=f"it with the verb {of}")
    if verb == "edit":
        if not given["changes"]:
            raise InvalidInput("changes", None, allowed="the fields to change, with their values")
        return planner.edit(names[0], **given["changes"], why=why)
    if verb == "skip":
        return planner.skip(names[0], given["at"] or None, why=why)
    if verb == "pause":
        return planner.pause(*names, until=given["until"] or None, note=why)
    made: ChangePlan = getattr(planner, verb)(*names, why=why)
    return made


def _token(made: ChangePlan, given: Given) -> str:
    """Return what a plan rests on, and what it promises, as two digests without any secret.

    Definitions are left out: the revision of a schedule rises with every change, and a digest of
    arguments would let a visitor try guesses at masked values.
    """
    asked = {name: value for name, value in given.items() if name not in ("token", "late")}
    bases = [(e.step.name, e.base and (e.base.id, e.base.revision)) for e in made.steps]
    base = [made.store, asked, bases, made.unchanged]
    ended = [(each.ended, each.holds_until) for each in made.steps]
    return f"{_digest(base)}-{_digest(ended)}"


def _digest(value: object) -> str:
    written = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


# Work


def backfill(visit: Visit, given: Given) -> Fields:
    """Run past slots that did not succeed; with `dry_run`, list them and write nothing."""
    name, most = given["schedule"], given["most"]
    timezone = visit.operator.engine.settings.timezone
    start, end = (read_in_zone(each, given[each], timezone) for each in ("from", "to"))
    stored = visit.operator.schedule(name)
    _check_size(stored, start, end, most)
    kept = KeptPlan()
    planned = StoredSchedule(
        visit.operator.engine, name, actor=visit.actor, tasks={}, carry_out=kept
    )
    options = {"assume_not_run": given["assume_not_run"]}
    if given["dry_run"]:
        planned.backfill(start, end, **options)
        slots = [json_instant(each.run_at) for each in kept.plan.creates] if kept.plan else []
        return {"dry_run": True, "slots": slots, "executions": []}
    try:
        rows = stored.backfill(start, end, **options, why=given["why"] or "")
    finally:
        visit.shared.forget()
    return {
        "dry_run": False,
        "slots": [json_instant(row.run_at) for row in rows],
        "executions": [EXECUTION.json(row, visit.redact) for row in rows],
    }


def _check_size(stored: StoredSchedule, start: datetime, end: datetime, most: int) -> None:
    """Refuse a stretch with more slots than asked for, before any of them is planned."""
    if end < start:
        raise InvalidInput("to", end, allowed="an instant that is not before from")
    slots = stored.definition.grid.times(start - TICK, most + 1)
    if len(slots) > most and slots[-1] <= end:
        raise Refused(
            f"{stored.name} has more than {most:,} slots there; choose a shorter stretch, or raise "
            "most."
        )


def enqueue(visit: Visit, given: Given) -> Fields:
    """Enqueue one run of a job by its name; its worker checks the arguments."""
    policy = {name: given[name] for name in ("queue", "priority") if given[name] is not None}
    due_at = _due_at(visit, given)
    named = NamedJob(visit.operator.engine, given["job"], actor=visit.actor)
    try:
        answer = named.enqueue(given["args"] or {}, due_at=due_at, why=given["why"] or "", **policy)
    finally:
        visit.shared.forget()
    if not answer.created:
        raise Refused(f"{named.name} was not enqueued: rejected by {answer.rejected_by}.")
    return {"id": answer.id, "job": named.name, "due_at": json_instant(due_at)}


def _due_at(visit: Visit, given: Given) -> datetime | None:
    if given["in"] and given["at"]:
        raise InvalidInput("in", given["in"], allowed="either in or at")
    engine = visit.operator.engine
    if given["at"]:
        return read_in_zone("at", given["at"], engine.settings.timezone)
    return engine.present() + read_duration("in", given["in"]) if given["in"] else None
