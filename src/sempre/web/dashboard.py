"""The dashboard as an ASGI application: protection, authentication, roles, handlers in threads."""

import asyncio
import hashlib
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as StarletteRoute

from sempre.app.operator import Operator
from sempre.engine.core import Engine
from sempre.errors import SempreError, ZoneError
from sempre.grids.zones import zone
from sempre.web.answers import Answer, Explained
from sempre.web.assets import assets
from sempre.web.auth import Auth
from sempre.web.failures import (
    FOREIGN_FORM,
    FOREIGN_HOST,
    NO_AUTH,
    NO_BODY,
    NO_METHOD,
    NO_PAGE,
    NOT_JSON,
    READ_ONLY,
    TOO_LARGE,
    TOO_MANY_FIELDS,
    explained,
    role_missing,
)
from sempre.web.live import Poller, Probes
from sempre.web.protection import is_allowed_host, is_own_form
from sempre.web.rendering import NOTICE, read_cookie, response_of, secured
from sempre.web.roles import Identity, Role, read_identity
from sempre.web.routes import API, ROUTES, Handler, Route
from sempre.web.shared import Shared
from sempre.web.views.preferences import THEMES
from sempre.web.visit import Options, Visit, Words

__all__ = ["Dashboard", "make_dashboard"]

logger = logging.getLogger("sempre")
JSON = "application/json"
LARGEST_FORM = 256 * 1024
MOST_FIELDS = 2000
OK, NOT_MODIFIED = 200, 304
REVALIDATED = "no-cache, private"
"""The browser of a visitor keeps an answer, and asks each time whether it is still the same."""
DEFECT = Explained(
    500,
    "Something went wrong",
    "The dashboard has a defect here; its log has the traceback. Workers are not affected.",
    "Report what you did, with the lines of the log.",
)


class _Turned(Exception):
    """A request that is answered before its handler is called."""

    def __init__(self, answer: Explained, *, challenge: str = "") -> None:
        """Take the failure to explain, and how a browser can ask for a password."""
        super().__init__(answer.title)
        self.answer = answer
        self.challenge = challenge


def make_dashboard(operator: Operator, *, auth: Auth | None, options: Options) -> Starlette:
    """Return the dashboard of an operator as an ASGI application."""
    return Dashboard(operator, auth=auth, options=options).asgi()


class Dashboard:
    """Serves the table of routes; the store is read in threads, for the core is synchronous."""

    def __init__(self, operator: Operator, *, auth: Auth | None, options: Options) -> None:
        """Connect to nothing yet."""
        self._operator = operator
        self._auth = auth
        self._options = options
        self._opening = Lock()
        self._shared = Shared(operator.clock)
        self.poller = Poller(Probes(self._engine).next)

    def asgi(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            StarletteRoute(each.path, self._endpoint(each), methods=[each.method])
            for each in ROUTES
            # A stream would occupy a thread of a WSGI host for each open page.
            if each.handler != "live" or self._options.streams
        ]
        handlers = {404: self._missing, 405: self._missing, Exception: self._defect}
        return Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]  # HTTPException handlers

    def _endpoint(self, route: Route) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if route.handler == "static":
                return secured(_file(request))
            visit: Visit | None = None
            challenge = ""
            try:
                visit = await self._visit(request, route)
                if route.handler == "live":
                    return secured(self._stream())
                answer: Answer = await asyncio.to_thread(self._handle, route.handler, visit)
            except _Turned as turned:
                answer, challenge = turned.answer, turned.challenge
            except SempreError as error:
                answer = explained(error)
            return await self._respond(request, answer, visit, challenge=challenge)

        return endpoint

    async def _respond(
        self, request: Request, answer: Answer, visit: Visit | None = None, *, challenge: str = ""
    ) -> Response:
        as_json = request.url.path.removeprefix(_prefix(request)).startswith(API)
        prefix = _prefix(request)
        response = await asyncio.to_thread(
            response_of, answer, visit, self._options, prefix=prefix, as_json=as_json
        )
        is_whole = not isinstance(response, StreamingResponse)
        is_polled = request.method == "GET" and response.status_code == OK and is_whole
        if is_polled and "set-cookie" not in response.headers:
            response = _unless_known(request, response, keeps=not self._options.streams)
        if challenge:
            response.headers["www-authenticate"] = challenge
        return secured(response)

    # Who visits

    async def _visit(self, request: Request, route: Route) -> Visit:
        options = self._options
        if not is_allowed_host(request.headers.get("host", ""), options.hosts):
            raise _Turned(FOREIGN_HOST)
        identity = await self._identity(request)
        needed = route.role or Role.READ
        if identity.role < needed:
            raise _Turned(role_missing(needed, identity.role, identity.name))
        form: Words = {}
        body: Mapping[str, Any] = {}
        if route.method == "POST":
            if options.read_only:
                raise _Turned(READ_ONLY)
            if route.path.startswith(API):
                body = await _object(request)
            else:
                form = await _form(request)
        actor = identity.name or self._operator.actor
        prefix = _prefix(request)
        return Visit(
            operator=self._operator.acting_as(actor),
            options=options,
            role=identity.role,
            actor=actor,
            prefix=prefix,
            path=request.url.path.removeprefix(prefix) or "/",
            params={name: str(value) for name, value in request.path_params.items()},
            query=_words(request.url.query, blanks=route.path.startswith(API)),
            form=form,
            body=body,
            zone=self._zone(request),
            theme=_known(request.cookies.get("sempre_theme", ""), THEMES),
            notice=read_cookie(request.cookies.get(NOTICE, "")),
            shared=self._shared,
        )

    async def _identity(self, request: Request) -> Identity:
        if self._auth is None:
            raise _Turned(NO_AUTH)
        if inspect.iscoroutinefunction(self._auth):
            given = await self._auth(request)
        else:
            # It may read a database, or hash a password.
            given = await asyncio.to_thread(self._auth, request)
            given = await given if inspect.isawaitable(given) else given
        identity = read_identity(given)
        if identity.role is Role.DENY:
            challenge = str(getattr(self._auth, "challenge", ""))
            answer = role_missing(Role.READ, Role.DENY, identity.name)
            status = 401 if challenge else answer.status
            raise _Turned(replace(answer, status=status), challenge=challenge)
        return identity

    def _zone(self, request: Request) -> str:
        """Return the time zone of the page: of the URL, the cookie, the application, or UTC."""
        usual = self._operator.composition.settings.timezone or "UTC"
        name = request.query_params.get("tz") or read_cookie(request.cookies.get("sempre_zone", ""))
        try:
            return zone(name).name if name else usual
        except ZoneError:
            return usual

    # Other answers

    def _engine(self) -> Engine:
        # One thread opens the store.
        with self._opening:
            return self._operator.engine

    def _handle(self, handler: Handler, visit: Visit) -> Answer:
        """Open the store, and call a handler; runs in a thread."""
        _ = self._engine()
        return handler(visit)

    def _stream(self) -> Response:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            self.poller.messages(), media_type="text/event-stream", headers=headers
        )

    async def _missing(self, request: Request, error: HTTPException) -> Response:
        of_api = request.url.path.removeprefix(_prefix(request)).startswith(API)
        if error.status_code == NO_METHOD.status and of_api:
            response = await self._respond(request, NO_METHOD)
            response.headers.update(error.headers or {})
            return response
        return await self._respond(request, NO_PAGE)

    async def _defect(self, request: Request, error: Exception) -> Response:
        logger.error("the dashboard failed at %s", request.url.path, exc_info=error)
        return await self._respond(request, DEFECT)


def _unless_known(request: Request, response: Response, *, keeps: bool) -> Response:
    """Return 304 for an answer that the client has; where pages poll, browsers keep answers."""
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    known = request.headers.get("if-none-match", "")
    if tag in (each.strip().removeprefix("W/") for each in known.split(",")):
        response = Response(status_code=NOT_MODIFIED)
    response.headers["etag"] = tag
    if keeps:
        response.headers["cache-control"] = REVALIDATED
    return response


def _prefix(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _known(word: str, words: tuple[str, ...]) -> str:
    return word if word in words else words[0]


async def _form(request: Request) -> Words:
    """Return the fields of a form of this dashboard."""
    if not is_own_form(request.headers):
        raise _Turned(FOREIGN_FORM)
    body = await _body(request)
    return {} if _is_json(request) else _words(body.decode("utf-8", "replace"))


async def _object(request: Request) -> Mapping[str, Any]:
    """Return the JSON object of a request to the API."""
    # No form of another site can send JSON without asking first.
    if not is_own_form({**request.headers, "content-type": JSON}):
        raise _Turned(FOREIGN_FORM)
    if not _is_json(request):
        raise _Turned(NOT_JSON)
    try:
        given = json.loads(await _body(request))
    except (ValueError, RecursionError):
        raise _Turned(NO_BODY) from None
    if not isinstance(given, dict):
        raise _Turned(NO_BODY)
    return given


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            raise _Turned(TOO_LARGE)
    return body


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _words(text: str, *, blanks: bool = False) -> Words:
    try:
        return parse_qs(text, keep_blank_values=blanks, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise _Turned(TOO_MANY_FIELDS) from None


def _file(request: Request) -> Response:
    asset = assets().get(request.path_params["file"])
    if asset is None or asset.digest != request.path_params["digest"]:
        raise HTTPException(404)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(asset.content, media_type=asset.media_type, headers=kept)
