"""The table of routes: path, method, the lowest role, and the handler that returns an answer.

A page is added by a function in `views/`, a template, one row here, and an entry in `navigation`.
Acts have their routes from the table `acts.ACTS`, the JSON API from `api.table.OPERATIONS`.
Handlers are synchronous and run in a thread.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from sempre.web.acts import ACTS
from sempre.web.answers import Answer
from sempre.web.api import openapi
from sempre.web.api.operations import answered
from sempre.web.api.table import OPERATIONS
from sempre.web.roles import Role
from sempre.web.views import (
    acts,
    backfill,
    edit,
    execution,
    executions,
    fleet,
    forecast,
    log,
    overview,
    pairs,
    preferences,
    schedule,
    schedules,
    settings,
    statement,
    timeline,
    why,
)
from sempre.web.visit import Visit

__all__ = ["API", "ROUTES", "Handler", "Route"]

API = "/api/v1"
Handler = Callable[[Visit], Answer]


class Route(NamedTuple):
    """One path of the dashboard.

    Attributes:
        role: the lowest role that may enter; None for files that are no secret.
        handler: returns the answer; or the name of a stream that is no answer of one piece.
    """

    path: str
    method: Literal["GET", "POST"]
    role: Role | None
    handler: Handler | Literal["static", "live"]


_PAGES = (
    Route("/", "GET", Role.READ, overview.overview_page),
    Route("/schedules", "GET", Role.READ, schedules.schedules_page),
    Route("/schedules/{name:path}/why", "GET", Role.READ, why.why_page),
    Route("/schedules/{name:path}", "GET", Role.READ, schedule.schedule_page),
    Route("/executions", "GET", Role.READ, executions.executions_page),
    Route("/executions/{id}", "GET", Role.READ, execution.execution_page),
    Route("/timeline", "GET", Role.READ, timeline.timeline_page),
    Route("/forecast", "GET", Role.READ, forecast.forecast_page),
    Route("/pairs", "GET", Role.READ, pairs.pairs_page),
    Route("/statement", "GET", Role.READ, statement.statement_page),
    Route("/statement/{form}", "GET", Role.READ, statement.statement_file),
    Route("/workers", "GET", Role.READ, fleet.workers_page),
    Route("/switches", "GET", Role.READ, fleet.switches_page),
    Route("/log", "GET", Role.READ, log.log_page),
    Route("/settings", "GET", Role.READ, settings.settings_page),
    Route("/preferences", "GET", Role.READ, preferences.preferences),
    Route("/live", "GET", Role.READ, "live"),
    Route("/static/{digest}/{file}", "GET", None, "static"),
)
_ACTS = (
    *(Route(act.path, "GET", act.role, partial(acts.form_of, act=act)) for act in ACTS),
    *(Route(act.path, "POST", act.role, partial(acts.act_by_form, act=act)) for act in ACTS),
)
# Changes that are previewed: the form, the preview of what is asked for, the change itself.
_PREVIEWED = (
    Route(edit.PATH, "GET", Role.ADMIN, edit.edit_form),
    Route(f"{edit.PATH}/preview", "POST", Role.ADMIN, edit.edit_preview),
    Route(edit.PATH, "POST", Role.ADMIN, edit.edit_now),
    Route(backfill.PATH, "GET", Role.OPERATOR, backfill.backfill_form),
    Route(f"{backfill.PATH}/preview", "POST", Role.OPERATOR, backfill.backfill_preview),
    Route(backfill.PATH, "POST", Role.OPERATOR, backfill.backfill_now),
)
_API = tuple(
    Route(f"{API}{each.path}", each.method, each.role, partial(answered, operation=each))
    for each in OPERATIONS
)
_DESCRIPTION = Route(f"{API}/openapi.json", "GET", Role.READ, openapi.description)
ROUTES = (*_PAGES, *_ACTS, *_PREVIEWED, *_API, _DESCRIPTION)
"""All routes; a path is matched in this order."""
