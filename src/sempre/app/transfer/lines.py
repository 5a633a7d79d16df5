"""The lines of an export: one JSON object for each record, read back exactly.

Instants are ISO 8601 texts in UTC. The rules of definitions and snapshots are written as
`domain.rules` writes them. A field that this release does not know is refused.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sempre.domain.action import Action
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.switch import Switch
from sempre.domain.values import copy_with
from sempre.ports.history_queries import Attempt, Rollup
from sempre.ports.load import Record
from sempre.ports.run_logs import RunLog

__all__ = [
    "KINDS",
    "Line",
    "instant_text",
    "read_object",
    "read_record",
    "read_text",
    "write_line",
    "write_object",
]

Line = Record | Switch
KINDS: dict[str, type[Line]] = {
    "switch": Switch,
    "schedule": Schedule,
    "range": SlotRange,
    "rollup": Rollup,
    "execution": Execution,
    "attempt": Attempt,
    "log": RunLog,
    "action": Action,
}
_WORDS = {kind: word for word, kind in KINDS.items()}
# A lease belongs to a session, and the count of rejections to the store.
_LEFT_OUT = {Execution: {"leased_until"}, Switch: {"rejected"}}
CAUSE = "cause"
"""The kind of an execution: why it exists. The kind of a line says what the line describes."""
_SCALARS = (str, int, bool, float, NoneType)


def instant_text(instant: datetime) -> str:
    """Return an instant as ISO 8601 text in UTC."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_text(text: str) -> datetime:
    """Return the instant of a text; ValueError if the text has no zone."""
    instant = datetime.fromisoformat(text)
    if instant.utcoffset() is None:
        raise ValueError(f"{text} has no zone")
    return instant.astimezone(UTC)


def write_line(record: Line) -> str:
    """Return the line of a record, without a line break."""
    written = _fields_of(record)
    if "kind" in written:
        written[CAUSE] = written.pop("kind")
    return json.dumps({"kind": _WORDS[type(record)], **written}, separators=(",", ":"))


def _fields_of(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    left_out = _LEFT_OUT.get(type(value), set())
    names = (each.name for each in fields(value) if each.name not in left_out)
    return {name: _written(getattr(value, name)) for name in names}


def _written(value: object) -> object:
    match value:
        case datetime():
            return instant_text(value)
        case StrEnum():
            return value.value
        case Pause():
            return _fields_of(value)
        case Definition() | Snapshot():
            return write_object(value)
        case _:
            return value


def write_object(value: Definition | Snapshot) -> dict[str, Any]:
    """Return a definition or snapshot as an object: its rules, and its other fields apart."""
    apart = {name: getattr(value, name, None) for name in ("name", "revision", "args")}
    rules = json.loads(write_rules(value, instant=instant_text))
    return {"rules": rules} | {key: each for key, each in apart.items() if each is not None}


def read_record(given: dict[str, Any]) -> Line:
    """Return the record of the object of a line.

    Raises:
        ValueError: the object is not a record that this release can read; the text says why.
    """
    kind = KINDS.get(given.get("kind", ""))
    if kind is None:
        raise ValueError(f"its kind is none of {', '.join(KINDS)}")
    values = {name: value for name, value in given.items() if name != "kind"}
    if CAUSE in values:
        values["kind"] = values.pop(CAUSE)
    record: Line = _read_fields(kind, values)
    return record


def _read_fields(kind: type, given: dict[str, Any]) -> Any:  # noqa: ANN401 - of that kind
    hints = _hints(kind)
    unknown = given.keys() - hints.keys() | given.keys() & _LEFT_OUT.get(kind, set())
    if unknown:
        raise ValueError(f"the field {min(unknown)} is unknown to this release")
    values = {name: _read(name, value, hints[name]) for name, value in given.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"a field is missing: {error}") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(name: str, value: Any, hint: Any) -> Any:  # noqa: ANN401 - JSON of any field
    """Return the value of a field; ValueError if its type does not fit."""
    allowed = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for each in allowed:
        if _is_plain(value, each):
            return value
        if type(value) in _FORMS.get(each, ()):
            return _READERS[each](value)
    # The result of an attempt, and what an action changed, are any JSON.
    if {str, int, float, bool} <= set(allowed):
        return value
    raise ValueError(f"the field {name} cannot be {value!r}")


def _is_plain(value: object, hint: Any) -> bool:  # noqa: ANN401 - a type
    """Whether a value is of a type that JSON has, or one of the words of a type."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    return hint in _SCALARS and type(value) is hint


def _read_snapshot(given: dict[str, Any]) -> Snapshot:
    rules = read_snapshot(json.dumps(given["rules"], separators=(",", ":")))
    return copy_with(rules, name=given["name"], revision=given["revision"], args=given["args"])


def read_object(given: dict[str, Any]) -> Definition:
    """Return the definition of an object; ValueError if this release cannot read it."""
    rules = json.dumps(given["rules"], separators=(",", ":"))
    return copy_with(read_definition(rules, instant=read_text), args=given["args"])


_READERS: dict[Any, Callable[[Any], object]] = {
    datetime: read_text,
    float: float,
    Kind: Kind,
    State: State,
    Pause: lambda given: _read_fields(Pause, given),
    Snapshot: _read_snapshot,
    Definition: read_object,
}
_FORMS: dict[Any, tuple[type, ...]] = {
    datetime: (str,),
    float: (int,),
    Kind: (str,),
    State: (str,),
    Pause: (dict,),
    Snapshot: (dict,),
    Definition: (dict,),
}
