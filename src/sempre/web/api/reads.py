"""Reads of the JSON API: the objects that commands print with `--json`, paged by key."""

from typing import Any

from sempre.app.health.pairs import pairs_of
from sempre.app.presentation.actions import ACTION
from sempre.app.presentation.definitions import definition_json
from sempre.app.presentation.executions import ATTEMPT, EXECUTION
from sempre.app.presentation.fleet import QUEUE, WORKER, read_workers
from sempre.app.presentation.pairs import PAIR
from sempre.app.presentation.run_logs import log_json
from sempre.app.presentation.schedules import SCHEDULE
from sempre.app.presentation.settings import settings_in_force
from sempre.app.presentation.switches import SWITCH
from sempre.app.times import json_instant
from sempre.domain.action import Action
from sempre.domain.pair import PAIR as PAIR_PREFIX
from sempre.errors import NotFound
from sempre.ports.messages import ActionQuery, Page
from sempre.web.api.operations import Given
from sempre.web.store_health import health_of, queues_of
from sempre.web.views.execution import read_execution
from sempre.web.views.executions import find_executions
from sempre.web.views.fleet import read_switches
from sempre.web.views.log import find_actions
from sempre.web.views.schedule import read_schedule
from sempre.web.views.schedules import find_schedules
from sempre.web.visit import Visit

__all__ = [
    "actions",
    "execution",
    "executions",
    "healing",
    "log",
    "pairs",
    "queues",
    "schedule",
    "schedules",
    "settings",
    "status",
    "switches",
    "workers",
]

Fields = dict[str, Any]


def status(visit: Visit, _given: Given) -> Fields:
    """Return the health of the store, as `sempre status --json`; `now` says as of when."""
    kept = health_of(visit)
    facts, problems = kept.value.facts, kept.value.problems
    healthy = not any(each.severity == "error" for each in problems)
    found = [each.to_json() for each in problems]
    return {"healthy": healthy, **facts.to_json(), "problems": found}


def schedules(visit: Visit, given: Given) -> Fields:
    """Return a page of schedules."""
    found = find_schedules(visit, limit=given["limit"])
    items = [SCHEDULE.json(each, visit.redact) for each in found.summaries]
    return {"schedules": items, "after": found.after or None, "note": found.note or None}


def schedule(visit: Visit, given: Given) -> Fields:
    """Return one schedule with its definition, next slots and newest executions."""
    view = read_schedule(visit, given["name"])
    row = view.summary.schedule
    return {
        "schedule": {
            **SCHEDULE.json(view.summary, visit.redact),
            "declared": bool(row.declared),
            "definition": definition_json(row.definition, visit.redact),
            "notes": list(view.notes),
            "next": [json_instant(slot) for slot in view.slots],
            "executions": [EXECUTION.json(each, visit.redact) for each in view.page.items],
        }
    }


def executions(visit: Visit, given: Given) -> Fields:
    """Return a page of executions."""
    page = find_executions(visit, limit=given["limit"])
    items = [EXECUTION.json(each, visit.redact) for each in page.items]
    return {"executions": items, "after": page.after or None}


def execution(visit: Visit, given: Given) -> Fields:
    """Return one execution with its attempts and progress."""
    view = read_execution(visit, given["id"])
    report = view.progress
    progress = report and {
        "done": report.done,
        "total": report.total,
        "note": report.note,
        "reported_at": json_instant(report.reported_at),
    }
    names = (*visit.redact, *view.row.snapshot.redact)
    return {
        "execution": {
            **EXECUTION.json(view.row, visit.redact),
            "progress": progress,
            "log_lines": view.logs[-1].lines.total if view.logs else 0,
            "attempts": [ATTEMPT.json(each, names) for each in view.attempts],
        }
    }


def log(visit: Visit, given: Given) -> Fields:
    """Return what the attempts at an execution logged, as `sempre logs --all --json`."""
    view = read_execution(visit, given["id"])
    wanted = given["attempt"]
    found = [each for each in view.logs if wanted in (None, each.attempt)]
    if wanted is not None and not found:
        raise NotFound("attempt", f"{wanted} of {view.row.id}")
    logs = [log_json(each) for each in found]
    return {"execution": view.row.id, "state": str(view.row.state), "logs": logs}


def workers(visit: Visit, _given: Given) -> Fields:
    """Return workers and queues."""
    rows, found = queues_of(visit).value, read_workers(visit.reader)
    return {
        "workers": [WORKER.json(each) for each in found],
        "queues": [QUEUE.json(each) for each in rows],
    }


def queues(visit: Visit, given: Given) -> Fields:
    """Return queues alone."""
    return {"queues": workers(visit, given)["queues"]}


def switches(visit: Visit, _given: Given) -> Fields:
    """Return the switches that are off, and how much each holds."""
    found = [{**SWITCH.json(each.switch), "held": each.held} for each in read_switches(visit)]
    return {"switches": found}


def pairs(visit: Visit, _given: Given) -> Fields:
    """Return pairs with their last scans."""
    found = pairs_of(visit.reader, visit.reader.schedules(text=PAIR_PREFIX))
    return {"pairs": [PAIR.json(each) for each in found]}


def actions(visit: Visit, given: Given) -> Fields:
    """Return a page of the log of actions."""
    return _actions(visit, find_actions(visit, limit=given["limit"]))


def healing(visit: Visit, given: Given) -> Fields:
    """Return a page of what watchdogs repaired: the actions with the verb heal."""
    query = ActionQuery(
        target=given["target"] or None,
        verb="heal",
        since=visit.point("since"),
        limit=given["limit"],
        after=given["after"] or "",
    )
    return _actions(visit, visit.reader.read(visit.store.actions(query)))


def settings(visit: Visit, _given: Given) -> Fields:
    """Return the settings in force in this process, without passwords."""
    return {
        "store": visit.store.uuid,
        "weaker_promises": list(visit.store.weaker_promises),
        "settings": [each._asdict() for each in settings_in_force(visit.reader.settings)],
    }


def _actions(visit: Visit, page: Page[Action]) -> Fields:
    items = [ACTION.json(each, visit.redact) for each in page.items]
    return {"actions": items, "after": page.after or None}
