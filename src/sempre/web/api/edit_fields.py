"""The fields of a schedule that the JSON API edits, with their schemas."""

from collections.abc import Mapping

from sempre.web.api.inputs import Input, Schema

__all__ = ["CHANGES"]

TEXT: Schema = {"type": "string", "maxLength": 1000}
MAYBE_TEXT: Schema = {"type": ["string", "null"], "maxLength": 1000}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer"}
MAYBE_COUNT: Schema = {"type": ["integer", "null"]}
LENGTH: Schema = {"type": ["string", "number"], "maxLength": 1000}
MAYBE_LENGTH: Schema = {"type": ["string", "number", "null"], "maxLength": 1000}

FIELDS: Mapping[str, Schema] = {
    "cron": TEXT,
    "every": LENGTH,
    "anchor": TEXT,
    "timezone": TEXT,
    "gap": TEXT,
    "fold": TEXT,
    "args": {"type": "object"},
    "queue": TEXT,
    "priority": COUNT,
    "retry": COUNT,
    "timeout": MAYBE_LENGTH,
    "on_unknown": TEXT,
    "alert_after": COUNT,
    "tags": {"type": "array", "items": TEXT, "maxItems": 100},
    "enabled": FLAG,
    "catch_up": FLAG,
    "catch_up_within": MAYBE_LENGTH,
    "catch_up_max": MAYBE_COUNT,
    "tolerance": LENGTH,
    "deadline": MAYBE_LENGTH,
    "overlap": TEXT,
    "jitter": LENGTH,
    "until": MAYBE_TEXT,
    "limit": MAYBE_COUNT,
    "retention": MAYBE_LENGTH,
    "keep": COUNT,
    "owner": MAYBE_TEXT,
    "note": TEXT,
}
CHANGES = Input(
    "changes",
    "the fields to change, for the verb edit; a length of time is a text such as 15m, or seconds",
    {"type": "object", "properties": FIELDS, "additionalProperties": False},
)
