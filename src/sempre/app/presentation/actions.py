"""The log of actions as commands and pages show it."""

import json

from sempre.app.presentation.fields import Field, Fields, Presenter
from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.redaction import redacted, redacted_text

__all__ = ["ACTION", "change_text"]

WIDEST = 60


def change_text(action: Action, context: Presenter) -> str:
    """Return the changed fields in words: `cron: "0 2 * * *" -> "0 3 * * *"`."""
    before, after = _mask(action.before, context), _mask(action.after, context)
    if not isinstance(after, dict):
        return ""
    old = before if isinstance(before, dict) else {}
    parts = [_field(name, old.get(name), value) for name, value in after.items()]
    return ", ".join(parts)


def _field(name: str, before: Json, after: Json) -> str:
    new = _short(after)
    return f"{name}: {new}" if before is None else f"{name}: {_short(before)} -> {new}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _mask(value: Json, context: Presenter) -> Json:
    return redacted(value, context.redact)


ACTION = Fields[Action](
    Field("id", lambda each: each.id),
    Field("at", lambda each: each.at, column="AT"),
    Field("actor", lambda each: each.actor, column="BY"),
    Field("verb", lambda each: each.verb, column="VERB"),
    Field("target", lambda each: each.target, column="TARGET"),
    Field("note", lambda each: each.note, column="WHY", mask=redacted_text, below=True),
    Field("before", lambda each: each.before, mask=redacted),
    Field("after", lambda each: each.after, mask=redacted),
    Field("", lambda each: each.after, column="CHANGE", text=change_text, below=True),
)
