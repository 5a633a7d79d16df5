"""The OpenAPI description of the JSON API, made from the tables of routes and acts."""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Protocol

from sempre.web.acts import ACTS, Act
from sempre.web.answers import JsonAnswer
from sempre.web.roles import Role
from sempre.web.visit import Visit

__all__ = ["Described", "description"]

QUERIES = {
    "/schedules": ("q", "tag", "job", "state", "sort", "limit", "after"),
    "/executions": ("schedule", "job", "state", "kind", "since", "until", "limit", "after"),
    "/log": ("target", "verb", "actor", "since", "limit", "after"),
}
FAILURE = {
    "type": "object",
    "required": ["v", "error"],
    "properties": {
        "v": {"const": 1},
        "error": {
            "type": "object",
            "required": ["status", "title", "message"],
            "properties": {
                "status": {"type": "integer"},
                "title": {"type": "string"},
                "message": {"type": "string"},
                "remedy": {"type": "string"},
            },
        },
    },
}
RESULTS = {
    "type": "object",
    "required": ["v", "act", "results"],
    "properties": {
        "v": {"const": 1},
        "act": {"type": "string"},
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["target", "done", "message"],
                "properties": {
                    "target": {"type": "string"},
                    "done": {"type": "boolean"},
                    "message": {"type": "string"},
                },
            },
        },
    },
}


class Described(Protocol):
    """What a description needs of a route."""

    @property
    def path(self) -> str:
        """The path, with its parameters in braces."""
        ...

    @property
    def method(self) -> str:
        """GET or POST."""
        ...

    @property
    def role(self) -> Role | None:
        """The lowest role."""
        ...

    @property
    def about(self) -> str:
        """What the route does."""
        ...


def description(visit: Visit, routes: Iterable[Described]) -> JsonAnswer:
    """Return the description of these routes, below the prefix of the dashboard."""
    acts = {f"/api/v1{act.path}": act for act in ACTS}
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        path = re.sub(r"\{(\w+):path\}", r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, path, acts.get(path))
    return JsonAnswer(
        {
            "openapi": "3.1.0",
            "info": {"title": "Sempre", "version": version("sempre")},
            "servers": [{"url": visit.prefix or "/"}],
            "paths": paths,
            "components": {"schemas": {"Failure": FAILURE, "Results": RESULTS}},
        }
    )


def _operation(route: Described, path: str, act: Act | None) -> dict[str, object]:
    role = route.role.word if route.role is not None else "anyone"
    queries = next((names for end, names in QUERIES.items() if path.endswith(f"v1{end}")), ())
    inside = [_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", path)]
    good = _schema("Results") if act else {"type": "object"}
    answers = {
        "200": {"description": "Done." if act else "Found.", "content": _json(good)},
        **{code: _failure(text) for code, text in _failures(act).items()},
    }
    operation: dict[str, object] = {
        "summary": route.about,
        "description": f"Needs the role {role}.",
        "operationId": _name(route.method, path),
        "parameters": [*inside, *(_parameter(name, "query") for name in queries)],
        "responses": answers,
    }
    if act:
        operation["requestBody"] = {"required": True, "content": _json(_body(act))}
    return operation


def _failures(act: Act | None) -> dict[str, str]:
    changed = {"409": "Refused, or another change came first."} if act else {}
    return {
        "400": "Not understood.",
        "403": "Not allowed.",
        "404": "Not found.",
        **changed,
        "503": "The store does not answer.",
    }


def _failure(text: str) -> Mapping[str, object]:
    any_of = {"anyOf": [_schema("Failure"), _schema("Results")]}
    return {"description": text, "content": _json(any_of)}


def _body(act: Act) -> dict[str, object]:
    texts = {name: {"type": "string"} for name in (*act.fields, "why")}
    targets = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    return {"type": "object", "required": ["target"], "properties": {"target": targets, **texts}}


def _parameter(name: str, place: str) -> dict[str, object]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}


def _schema(name: str) -> dict[str, object]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: Mapping[str, object]) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


def _name(method: str, path: str) -> str:
    words = re.findall(r"[a-z]+", path.removeprefix("/api/v1"))
    return "_".join([method.lower(), *words])
