"""The form of an edit: the fields of a schedule as texts, and the changes that a visitor made.

Each field is sent with the text that the visitor was shown (`was_NAME`): only fields whose text
differs are changed. Two people who edit different fields therefore do not undo each other.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sempre.app.times import json_instant
from sempre.domain.arguments import Json
from sempre.domain.definition import Definition
from sempre.domain.policies import Retry
from sempre.domain.redaction import redacted
from sempre.errors import (
    ArgumentsError,
    CronError,
    IntervalError,
    InvalidInput,
    PolicyError,
    ZoneError,
)
from sempre.grids.cron import Cron
from sempre.grids.every import Every

__all__ = ["FIELDS", "FormField", "edit_options", "field_of_error", "texts_of"]

UNITS = (("d", 86_400), ("h", 3600), ("m", 60))
YES, NO = "yes", "no"


class FormField(NamedTuple):
    """A field of the form.

    Attributes:
        hint: what may be written, or what an empty field means.
        choices: the allowed words, if they are few.
        rows: the height of a text of several lines; 0 for one line.
    """

    group: str
    name: str
    label: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    rows: int = 0


FIELDS = (
    FormField("When", "cron", "Cron", "0 2 * * *"),
    FormField("When", "every", "or every", "15m, 1 month"),
    FormField("When", "anchor", "Anchor of the interval", "2026-01-31 09:00"),
    FormField("When", "timezone", "Time zone", "Europe/Rome"),
    FormField("When", "gap", "A time that the clock skips", choices=("shift", "skip")),
    FormField("When", "fold", "A time that comes twice", choices=("first", "last", "both")),
    FormField("When", "until", "Last instant", "empty: no end"),
    FormField("When", "enabled", "Enabled", choices=(YES, NO)),
    FormField("What", "queue", "Queue"),
    FormField("What", "priority", "Priority", "lower starts first"),
    FormField("What", "retry", "Retries after a failure", "0 for none"),
    FormField("What", "timeout", "Time limit of a run", "empty: no limit"),
    FormField("What", "args", "Arguments as JSON", rows=4),
    FormField("Policy", "overlap", "Overlap", choices=("skip", "wait", "allow", "replace")),
    FormField("Policy", "jitter", "Jitter", "30s"),
    FormField("Policy", "tolerance", "Tolerance", "60s"),
    FormField("Policy", "deadline", "Deadline of a start", "empty: no limit"),
    FormField("Policy", "catch_up", "Catch up after a downtime", choices=(YES, NO)),
    FormField("Policy", "tags", "Tags", "billing, nightly"),
    FormField("Policy", "note", "Note for people", rows=2),
)
"""The fields, in the order of the form."""
NAMES = tuple(each.name for each in FIELDS)
_EMPTY_IS_NONE = frozenset({"timeout", "deadline", "until", "anchor"})
_READERS: dict[str, Callable[[str], object]] = {
    "priority": lambda text: _number("priority", text),
    "enabled": lambda text: text == YES,
    "catch_up": lambda text: text == YES,
    "tags": lambda text: text.replace(",", " ").split(),
    "jitter": lambda text: text or "0s",
}
_ERRORS: tuple[tuple[type[InvalidInput], str], ...] = (
    (CronError, "cron"),
    (ZoneError, "timezone"),
    (ArgumentsError, "args"),
)


def texts_of(declared: Definition, redact: Sequence[str] = ()) -> dict[str, str]:
    """Return the fields of a definition as the form shows them; secrets are masked."""
    grid = declared.grid
    rule = grid.parameters() if isinstance(grid, Cron | Every) else {}
    return {
        "cron": str(rule.get("text", "")),
        "every": f"{rule['interval']} {rule['unit']}" if "interval" in rule else "",
        **{name: str(rule.get(name) or "") for name in ("anchor", "timezone", "gap", "fold")},
        "until": json_instant(declared.until) or "",
        "enabled": YES if declared.enabled else NO,
        "args": _json(_masked(declared, redact)) if declared.args else "",
        "queue": declared.queue,
        "priority": str(declared.priority),
        "retry": str(declared.retry.limit),
        "timeout": _length(declared.timeout),
        "overlap": declared.overlap,
        "jitter": _length(declared.jitter),
        "tolerance": _length(declared.tolerance),
        "deadline": _length(declared.deadline),
        "catch_up": YES if declared.catch_up else NO,
        "tags": ", ".join(declared.tags),
        "note": declared.note,
    }


def edit_options(
    given: Mapping[str, str], was: Mapping[str, str], declared: Definition, redact: Sequence[str]
) -> dict[str, Any]:
    """Return what `schedule.edit` takes for the fields whose text has changed.

    Raises:
        InvalidInput: a text cannot be read; `field` names it.
    """
    names = [name for name in NAMES if given.get(name, "") != was.get(name, "")]
    found = {name: _read(name, given.get(name, ""), declared, redact) for name in names}
    if "cron" in found and not found["cron"]:
        # Cleared: an interval takes its place.
        del found["cron"]
        if not found.get("every"):
            raise InvalidInput("cron", "", allowed="a cron rule, or an interval instead")
    if "every" in found and not found["every"]:
        del found["every"]
        if not found.get("cron"):
            raise InvalidInput("every", "", allowed="an interval, or a cron rule instead")
    if "cron" in found:
        found.pop("anchor", None)
    elif "every" in found and given.get("anchor"):
        found["anchor"] = given["anchor"]
    return found


def field_of_error(error: InvalidInput) -> str:
    """Return the field of the form that an error is about; empty if it is none."""
    for kind, name in _ERRORS:
        if isinstance(error, kind):
            return name
    if isinstance(error, IntervalError) and error.field in ("interval", "unit"):
        return "every"
    # Such as "overlap of nightly".
    name = error.field.partition(" of ")[0]
    return name if name in NAMES else ""


def _read(name: str, text: str, declared: Definition, redact: Sequence[str]) -> object:
    """Return the value of a field for `schedule.edit`, which checks most of them itself."""
    if not text and name in _EMPTY_IS_NONE:
        return None
    if name == "args":
        return _arguments(text, declared, redact)
    if name == "retry":
        return _retry(declared, _number(name, text))
    reader = _READERS.get(name)
    return reader(text) if reader else text


def _retry(declared: Definition, limit: int) -> Retry:
    """Return the retry policy of a definition with another number of retries; waits stay."""
    old = declared.retry
    return Retry(
        limit, base=old.base, cap=old.cap, jitter=old.jitter, only=old.only, never=old.never
    )


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PolicyError(name, text, allowed="a whole number of 0 or more") from None


def _arguments(text: str, declared: Definition, redact: Sequence[str]) -> object:
    try:
        given = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise ArgumentsError("args", text, allowed=f"JSON ({error})") from None
    if not isinstance(given, dict):
        raise ArgumentsError("args", text, allowed='a JSON object, such as {"id": 7}')
    return _unmasked(given, dict(declared.args), _masked(declared, redact))


def _unmasked(given: Json, stored: Json, shown: Json) -> Json:
    """Return a value in which texts that are still masked have their stored value."""
    if given == shown:
        return stored
    if isinstance(given, dict) and isinstance(stored, dict) and isinstance(shown, dict):
        return {
            name: _unmasked(value, stored[name], shown[name])
            if name in stored and name in shown
            else value
            for name, value in given.items()
        }
    return given


def _masked(declared: Definition, redact: Sequence[str]) -> Json:
    return redacted(dict(declared.args), (*redact, *declared.redact))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _length(value: timedelta | None) -> str:
    """Return a length of time exactly, in the largest unit that divides it."""
    if value is None:
        return ""
    seconds = value.total_seconds()
    for unit, size in UNITS:
        if seconds and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{int(seconds)}s" if seconds == int(seconds) else f"{seconds!r}s"
