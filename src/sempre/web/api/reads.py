"""Reads of the JSON API: the objects that commands print with `--json`."""

from sempre.app.presentation.actions import ACTION
from sempre.app.presentation.definitions import definition_json
from sempre.app.presentation.executions import ATTEMPT, EXECUTION
from sempre.app.presentation.fleet import QUEUE, WORKER, read_workers
from sempre.app.presentation.schedules import SCHEDULE
from sempre.app.presentation.switches import SWITCH
from sempre.app.times import json_instant
from sempre.web.answers import JsonAnswer
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
    "schedule",
    "schedules",
    "status",
    "switches",
    "workers",
]

LIMIT, MOST = 50, 500


def status(visit: Visit) -> JsonAnswer:
    """Return the health of the store, as `sempre status --json`; `now` says as of when."""
    kept = health_of(visit)
    facts, problems = kept.value.facts, kept.value.problems
    healthy = not any(each.severity == "error" for each in problems)
    found = [each.to_json() for each in problems]
    return _answer(healthy=healthy, **facts.to_json(), problems=found)


def schedules(visit: Visit) -> JsonAnswer:
    """Return schedules: `q`, `tag`, `job`, `state`, `sort`, `limit`, `after`."""
    found = find_schedules(visit, limit=_limit(visit))
    items = [SCHEDULE.json(each, visit.redact) for each in found.summaries]
    return _answer(schedules=items, after=found.after or None)


def schedule(visit: Visit) -> JsonAnswer:
    """Return one schedule with its definition, next slots and newest executions."""
    view = read_schedule(visit, visit.params["name"])
    row = view.summary.schedule
    return _answer(
        schedule={
            **SCHEDULE.json(view.summary, visit.redact),
            "declared": bool(row.declared),
            "definition": definition_json(row.definition, visit.redact),
            "notes": list(view.notes),
            "next": [json_instant(slot) for slot in view.slots],
            "executions": [EXECUTION.json(each, visit.redact) for each in view.page.items],
        }
    )


def executions(visit: Visit) -> JsonAnswer:
    """Return executions: `schedule`, `job`, `state`, `kind`, `since`, `until`, `limit`, `after`."""
    page = find_executions(visit, limit=_limit(visit))
    items = [EXECUTION.json(each, visit.redact) for each in page.items]
    return _answer(executions=items, after=page.after or None)


def execution(visit: Visit) -> JsonAnswer:
    """Return one execution with its attempts, progress and log."""
    view = read_execution(visit, visit.params["id"])
    report = view.progress
    progress = report and {
        "done": report.done,
        "total": report.total,
        "note": report.note,
        "reported_at": json_instant(report.reported_at),
    }
    names = (*visit.redact, *view.row.snapshot.redact)
    return _answer(
        execution={
            **EXECUTION.json(view.row, visit.redact),
            "progress": progress,
            "log_lines": view.logs[-1].lines.total if view.logs else 0,
            "attempts": [ATTEMPT.json(each, names) for each in view.attempts],
        }
    )


def workers(visit: Visit) -> JsonAnswer:
    """Return workers and queues."""
    queues, found = queues_of(visit).value, read_workers(visit.reader)
    return _answer(
        workers=[WORKER.json(each) for each in found], queues=[QUEUE.json(each) for each in queues]
    )


def switches(visit: Visit) -> JsonAnswer:
    """Return the switches that are off, and how much each holds."""
    return _answer(
        switches=[{**SWITCH.json(each.switch), "held": each.held} for each in read_switches(visit)]
    )


def actions(visit: Visit) -> JsonAnswer:
    """Return the log of actions: `target`, `verb`, `actor`, `since`, `limit`, `after`."""
    page = find_actions(visit, limit=_limit(visit))
    items = [ACTION.json(each, visit.redact) for each in page.items]
    return _answer(actions=items, after=page.after or None)


def _limit(visit: Visit) -> int:
    text = visit.asked("limit")
    return min(MOST, max(1, int(text))) if text.isdecimal() and len(text) < 6 else LIMIT  # noqa: PLR2004 - digits


def _answer(**content: object) -> JsonAnswer:
    return JsonAnswer({"v": 1, **content})
