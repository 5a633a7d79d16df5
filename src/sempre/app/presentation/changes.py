"""Changed fields of schedules as commands and pages show them: each before and after."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sempre.domain.arguments import Json
from sempre.domain.redaction import redacted

__all__ = ["ChangedField", "changed_parts", "masked_value", "shown_value"]

WIDEST = 60


class ChangedField(NamedTuple):
    """A field, or a part of a rule, before and after; values are short texts."""

    name: str
    before: str
    after: str


def changed_parts(name: str, before: Json, after: Json) -> Iterator[ChangedField]:
    """Yield the change of a field; a rule by its parts that differ."""
    old_text, new_text = shown_value(before), shown_value(after)
    if name != "grid" or not isinstance(before, dict) or not isinstance(after, dict):
        if old_text != new_text or len(new_text) == WIDEST:
            yield ChangedField(name, old_text, new_text)
        return
    for part in {**before, **after}:
        old, new = before.get(part), after.get(part)
        if old != new and part != "grid":
            label = "cron" if part == "text" else part
            yield ChangedField(label, shown_value(old), shown_value(new))


def shown_value(value: Json) -> str:
    """Return a value in one short text."""
    if value is None or value == "":
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def masked_value(name: str, value: Json, redact: Sequence[str]) -> Json:
    """Return the value of a field, without secrets."""
    shown = redacted({name: value}, redact)
    return shown[name] if isinstance(shown, dict) else None
