"""Schemas of the answers of the JSON API.

`components.json` has the shapes of `docs/reference/json/sempre.schema.json`; a test compares both.
The shapes that only the API has are here.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sempre.domain.states import State
from sempre.web.api.inputs import Schema

__all__ = ["INSTANT", "TEXT", "components", "list_of", "maybe", "named", "shape"]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
INSTANT: Schema = {"type": "string", "pattern": "Z$"}


def maybe(schema: Schema) -> Schema:
    """Return a schema that also allows null."""
    return {**schema, "type": [schema["type"], "null"]}


def list_of(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def named(name: str) -> Schema:
    """Return a reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def shape(**fields: Schema) -> Schema:
    """Return the schema of an object that has all of these fields."""
    return {"type": "object", "required": list(fields), "properties": fields}


def _with(name: str, **fields: Schema) -> Schema:
    return {"allOf": [named(name), shape(**fields)]}


ERROR = {
    **shape(status={"type": "integer"}, title=TEXT, message=TEXT),
    "properties": {
        "status": {"type": "integer", "description": "The status of the answer."},
        "title": TEXT,
        "message": {**TEXT, "description": "What happened; a missing name has the nearest one."},
        "remedy": {**TEXT, "description": "What to do next."},
        "field": {**TEXT, "description": "The input that was not accepted, as a path."},
        "allowed": {**TEXT, "description": "What the input accepts."},
        "code": {**TEXT, "description": "A command to type."},
        "retry_after": {"type": "integer", "description": "Seconds, also in the header."},
    },
}
OWN: Mapping[str, Schema] = {
    "error": shape(v={"const": 1}, error=ERROR),
    "result": shape(target=TEXT, done=FLAG, message=TEXT),
    "switch": shape(
        name=TEXT,
        target=TEXT,
        mode={"enum": ["hold", "reject"]},
        until=maybe(INSTANT),
        rejected=COUNT,
        actor=TEXT,
        reason=TEXT,
        held=COUNT,
    ),
    "pair": shape(
        name=TEXT,
        cadence_s={"type": "number"},
        scanned_at=maybe(INSTANT),
        age_s={"type": "number"},
        stale=FLAG,
        failing=maybe(TEXT),
        scan={"type": ["object", "null"]},
    ),
    "setting": shape(name=TEXT, value=TEXT, origin=TEXT, default=TEXT),
    "log": shape(attempt=COUNT, fence=COUNT, written_at=maybe(INSTANT), lines=COUNT, text=TEXT),
    "applied": shape(name=TEXT, verb=TEXT, done=FLAG, next_run_at=maybe(INSTANT)),
    "left_out": shape(name=TEXT, reason=TEXT),
    "schedule_in_full": _with(
        "schedule",
        declared=FLAG,
        definition={"type": "object"},
        notes=list_of(TEXT),
        next=list_of(INSTANT),
        executions=list_of(named("execution")),
    ),
    "execution_in_full": _with(
        "execution",
        progress={
            "oneOf": [
                {"type": "null"},
                shape(
                    done={"type": "number"},
                    total={"type": ["number", "null"]},
                    note=TEXT,
                    reported_at=maybe(INSTANT),
                ),
            ]
        },
        log_lines=COUNT,
        attempts=list_of(named("attempt")),
    ),
    "state": {"enum": [str(each) for each in State]},
}


@cache
def components() -> Mapping[str, Any]:
    """Return all components by name."""
    packaged = files("sempre.web.api").joinpath("components.json").read_text()
    return {**json.loads(packaged), **OWN}
