"""The OpenAPI description of the JSON API, made from the table of operations."""

import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sempre.web.answers import JsonAnswer
from sempre.web.api.inputs import Input, Schema
from sempre.web.api.operations import Operation
from sempre.web.api.schemas import components, named, shape
from sempre.web.api.table import OPERATIONS
from sempre.web.visit import Visit

__all__ = ["description"]

API = "/api/v1"
ABOUT = (
    "Everything that the pages of the dashboard do, under the same roles. A list is paged by key: "
    "pass `after` of an answer to get the next page; null is the end. Instants are in UTC. Secrets "
    "are masked."
)
SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "auth=bearer(...)"},
    "basic": {"type": "http", "scheme": "basic", "description": "auth=basic(...)"},
}
FAILURES = {
    "400": "An input is not accepted; `field` names it.",
    "401": "Who asks is unknown; the header WWW-Authenticate says how to tell.",
    "403": "The role is too low, the dashboard is read-only or closed, or the request is foreign.",
    "404": "Nothing has that name; the message has the nearest one.",
    "421": "The host name is not one of this server.",
    "503": "The store does not answer; the header Retry-After says when to try again.",
}
FAILURES_OF_CHANGES = {
    "409": "Refused: the present state does not allow it, or another change came first.",
    "413": "The body is larger than 256 KiB.",
    "415": "The body is not application/json.",
}


def description(visit: Visit) -> JsonAnswer:
    """Return the description, below the prefix of the dashboard."""
    paths: dict[str, dict[str, object]] = {}
    for each in OPERATIONS:
        path = API + re.sub(r"\{(\w+):path\}", r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _operation(each, path)
    return JsonAnswer(
        {
            "openapi": "3.1.0",
            "info": {"title": "Sempre", "version": version("sempre"), "description": ABOUT},
            "servers": [{"url": visit.prefix or "/"}],
            "security": [{name: []} for name in SECURITY] + [{}],
            "paths": paths,
            "components": {"schemas": dict(components()), "securitySchemes": SECURITY},
        }
    )


def _operation(each: Operation, path: str) -> dict[str, object]:
    is_change = each.method == "POST"
    failures = {**FAILURES, **(FAILURES_OF_CHANGES if is_change else {})}
    good = _answer(each)
    answers = {code: _response(text, _failure(each, code)) for code, text in failures.items()}
    query = () if is_change else each.inputs
    found: dict[str, object] = {
        "summary": each.about,
        "description": f"Needs the role {each.role.word}.",
        "operationId": _name(each.method, path),
        "parameters": [
            *(_parameter(one, "path") for one in each.path_inputs),
            *(_parameter(one, "query") for one in query),
        ],
        "responses": {"200": _response("Done." if is_change else "Found.", good), **answers},
    }
    if is_change:
        found["requestBody"] = {"required": True, "content": _json(_body(each))}
    return found


def _answer(each: Operation) -> Schema:
    """Return the schema of the answer; the name "" stands for a shape that is the answer itself."""
    fields = {name: schema for name, schema in each.answer.items() if name}
    head = shape(v={"const": 1}, **fields)
    whole = each.answer.get("")
    return head if whole is None else {"allOf": [head, whole]}


def _failure(each: Operation, code: str) -> Schema:
    if code == "409" and each.can_lose:
        return {"anyOf": [named("error"), _answer(each)]}
    return named("error")


def _body(each: Operation) -> dict[str, object]:
    return {
        "type": "object",
        "required": [one.name for one in each.inputs if one.required],
        "properties": {
            one.name: {**one.described, "description": one.about} for one in each.inputs
        },
        "additionalProperties": False,
    }


def _parameter(one: Input, place: str) -> dict[str, object]:
    return {
        "name": one.name,
        "in": place,
        "required": place == "path" or one.required,
        "description": one.about,
        "schema": one.described,
    }


def _response(text: str, schema: Schema) -> dict[str, Any]:
    return {"description": text, "content": _json(schema)}


def _json(schema: Mapping[str, Any]) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


def _name(method: str, path: str) -> str:
    words = re.findall(r"[a-z]+", path.removeprefix(API))
    return "_".join([method.lower(), *words])
