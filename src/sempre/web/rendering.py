"""Rendering: an answer becomes a response, with the headers that every response has."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from sempre.app.times import format_duration, json_instant
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.web.acts import ACTS
from sempre.web.answers import Answer, Explained, FileAnswer, JsonAnswer, Redirect
from sempre.web.assets import assets
from sempre.web.drawings import bars, sparkline
from sempre.web.lights import light
from sempre.web.navigation import entries_for
from sempre.web.protection import HEADERS
from sempre.web.roles import Role
from sempre.web.routes import ROUTES
from sempre.web.visit import Options, Visit

__all__ = ["NOTICE", "read_cookie", "response_of", "secured"]

NOTICE = "sempre_notice"
YEAR = 365 * 86_400
SEE_OTHER = 303


def response_of(
    answer: Answer, visit: Visit | None, options: Options, *, prefix: str, as_json: bool
) -> Response:
    """Return the response for an answer; failures of the API are JSON too."""
    if isinstance(answer, Redirect):
        return _redirect(answer, prefix)
    if isinstance(answer, JsonAnswer):
        return JSONResponse(dict(answer.content), answer.status)
    if isinstance(answer, FileAnswer):
        # Saved, never shown: a file has a style of its own, which the policy of pages forbids.
        named = {"content-disposition": f'attachment; filename="{answer.name}"'}
        return StreamingResponse(answer.parts, media_type=answer.media_type, headers=named)
    if isinstance(answer, Explained):
        return _failure(answer, visit, options, prefix=prefix, as_json=as_json)
    values = {**answer.values, "visit": visit, "topics": answer.topics}
    page = _render(answer.template, options, prefix, title=answer.title, values=values)
    response = HTMLResponse(page, answer.status)
    if visit is not None and visit.notice:
        response.delete_cookie(NOTICE, path=prefix or "/")
    return response


def secured(response: Response) -> Response:
    """Add the headers that every response has; pages are never kept by a cache."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("cache-control", "no-store")
    return response


def read_cookie(cookie: str) -> str:
    """Return the message of an earlier request, from its cookie."""
    return unquote(cookie)


def _redirect(answer: Redirect, prefix: str) -> Response:
    response = RedirectResponse(answer.to, SEE_OTHER)
    path = prefix or "/"
    for name, value in answer.cookies.items():
        response.set_cookie(name, quote(value), max_age=YEAR, path=path, samesite="lax")
    if answer.notice:
        notice = quote(answer.notice)
        response.set_cookie(NOTICE, notice, max_age=60, path=path, samesite="strict", httponly=True)
    return response


def _failure(
    answer: Explained, visit: Visit | None, options: Options, *, prefix: str, as_json: bool
) -> Response:
    if as_json:
        words = {name: value for name, value in vars(answer).items() if value}
        response: Response = JSONResponse({"v": 1, "error": words}, answer.status)
    else:
        values = {"failure": answer, "visit": visit, "topics": ()}
        page = _render("failure.html", options, prefix, title=answer.title, values=values)
        response = HTMLResponse(page, answer.status)
    if answer.retry_after:
        response.headers["retry-after"] = str(answer.retry_after)
    return response


def _render(
    template: str, options: Options, prefix: str, *, title: str, values: Mapping[str, Any]
) -> str:
    return (
        _templates()
        .get_template(template)
        .render(title=title, options=options, prefix=prefix, **values)
    )


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("sempre.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "duration": _duration,
        "masked": _masked,
        "number": lambda value: f"{value:,}",
        "seconds": lambda value: format_duration(timedelta(seconds=value)),
    }
    found.globals |= {
        "Role": Role,
        "acts": {f"{act.kind}.{act.verb}": act for act in ACTS},
        "asset": lambda name: assets()[name].path,
        "bars": bars,
        "entries": entries_for(route.path for route in ROUTES),
        "instant": _instant,
        "light": light,
        "sparkline": sparkline,
    }
    return found


def _duration(value: timedelta | None) -> str:
    return "" if value is None else format_duration(value)


def _masked(text: str, visit: Visit, row: Execution | None = None) -> str:
    return redacted_text(text, (*visit.redact, *(row.snapshot.redact if row else ())))


def _instant(visit: Visit, at: datetime | None, *, age: bool = False) -> Markup:
    """Return an instant in the zone of the page; the exact one in UTC is its title."""
    if at is None:
        return Markup("")
    shown, exact = visit.shown_in_table(at), json_instant(at)
    text, other = (visit.age(at), shown) if age else (shown, visit.age(at))
    return Markup('<time datetime="{}" title="{} · {}">{}</time>').format(exact, other, exact, text)
