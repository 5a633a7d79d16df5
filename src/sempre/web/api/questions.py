"""Questions of the JSON API that are computed: next slots, why, a statement, a forecast."""

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from itertools import islice, takewhile
from typing import Any

from sempre.app.presentation.explanations import explanation_json
from sempre.app.presentation.forecasts import forecast_json
from sempre.app.presentation.slots import all_views, upcoming
from sempre.app.presentation.statements import (
    schedule_statement_json,
    statement_head,
    totals_json,
)
from sempre.app.times import json_instant
from sempre.domain.explanation.wording import Speech
from sempre.domain.planning.plan import TICK
from sempre.errors import InvalidInput, NotFound, SempreError
from sempre.grids.relative_instants import read_point
from sempre.ports.messages import View
from sempre.web.api.operations import Given
from sempre.web.visit import Visit

__all__ = ["forecast", "next_slots", "statement", "why"]

Fields = dict[str, Any]
Slot = tuple[datetime, str]


def next_slots(visit: Visit, given: Given) -> Fields:
    """Return the next slots of one schedule, or of all in order, as `sempre next --json`."""
    name = given["schedule"]
    views = [_view(visit, name)] if name else list(all_views(visit.reader))
    now = visit.reader.engine.present()
    since, until = (_coming(visit, given, each) for each in ("since", "until"))
    after = now if since is None else since - TICK
    left_out: list[dict[str, str]] = []
    lists = [_slots(view, after, left_out, overdue=since is None) for view in views]
    merged = takewhile(lambda each: until is None or each[0] <= until, merge(*lists))
    found = [
        {"run_at": json_instant(at), "name": known} for at, known in islice(merged, given["limit"])
    ]
    return {"next": found, "left_out": left_out}


def why(visit: Visit, given: Given) -> Fields:
    """Explain an execution, or the slot of a schedule at a time, as `sempre why --json`."""
    execution, schedule, at = given["execution"], given["schedule"], given["at"]
    if bool(execution) == bool(schedule):
        allowed = "either execution=ID, or schedule=NAME and at=TIME"
        raise InvalidInput("execution", execution, allowed=allowed)
    if bool(schedule) != bool(at):
        raise InvalidInput("at", at, allowed="the time of a slot, and only with schedule=NAME")
    found = visit.operator.why(schedule or execution, at=at or None)
    return {"why": explanation_json(found, Speech(found.zone, visit.now, str))}


def statement(visit: Visit, given: Given) -> Fields:
    """Return the statement of a month; the totals count schedules that the list leaves out."""
    zone = given["tz"] or None
    chosen = {name: given[name] or None for name in ("schedule", "job", "tag", "late")}
    found = visit.operator.statement(month=given["month"], zone=zone, **chosen)
    listed: list[dict[str, Any]] = []
    left_out = 0
    for each in found:
        if len(listed) < given["limit"]:
            listed.append(schedule_statement_json(each))
        else:
            left_out += 1
    totals = totals_json(found.totals)
    return {
        "statement": {
            **statement_head(found),
            "schedules": listed,
            "totals": totals,
            "notes": list(found.notes),
        },
        "left_out": left_out,
    }


def forecast(visit: Visit, given: Given) -> Fields:
    """Return the expected load, as `sempre forecast --json`."""
    chosen = {name: given[name] or None for name in ("tag", "job", "queue", "capacity")}
    found = visit.operator.forecast(
        start=given["from"] or None,
        length=given["for"] or "7d",
        timezone=given["tz"] or None,
        **chosen,
    )
    return forecast_json(found)


def _view(visit: Visit, name: str) -> View:
    _ = visit.operator.schedule(name).row
    view = visit.reader.engine.read_one(visit.store.views([name]))
    if view is None:
        raise NotFound("schedule", name)
    return view


def _coming(visit: Visit, given: Given, name: str) -> datetime | None:
    """Return an instant, or so long from now as the parameter says."""
    if not given[name]:
        return None
    present = visit.reader.engine.present
    return read_point(name, given[name], now=present, timezone=visit.zone)


def _slots(
    view: View, after: datetime, left_out: list[dict[str, str]], *, overdue: bool
) -> Iterator[Slot]:
    try:
        for slot in upcoming(view, after=after, overdue=overdue):
            yield slot, view.schedule.name
    except SempreError as error:
        # The class of the grid lives in code that this process has not imported.
        left_out.append({"name": view.schedule.name, "reason": str(error)})
