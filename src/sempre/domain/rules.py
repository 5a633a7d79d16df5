"""Rules: the fields of a definition or snapshot as JSON, as stores keep them.

Arguments, name and revision are left out: stores have columns for them. Default values of a
snapshot are left out too: each one-off execution has a snapshot, and there may be millions.
Durations are whole microseconds. Each store chooses the form of an instant, because it sorts by it.
A trace is the last field, and no part of the cached texts: most executions have another one.

A field, or a word in a field, that this release does not know stands for behaviour that it does not
know. Such rules are not read: their row is left to processes of the newer release.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sempre.domain.definition import Definition
from sempre.domain.limits import Concurrency, Limit, Rate, restore_limit, write_limit
from sempre.domain.policies import Retry
from sempre.domain.snapshot import Snapshot
from sempre.domain.values import copy_with
from sempre.errors import PolicyError
from sempre.grids.grid import Grid
from sempre.grids.instants import instant_of, microseconds_of
from sempre.grids.unknown_grid import read_grid

__all__ = ["read_definition", "read_snapshot", "shared_rules", "write_rules"]

MICROSECOND = timedelta(microseconds=1)
LIMITS = (Concurrency, Rate)
APART = frozenset({"args", "name", "revision"})
TRACE = "trace"
# How a text with a trace ends: the 55 characters of a traceparent, before and after fixed ones.
_BEFORE_TRACE = f',"{TRACE}":"'
_TRACE_TAIL = slice(-(len(_BEFORE_TRACE) + 57), -57)
_TRACED = re.compile(rf'(.*){_BEFORE_TRACE}([0-9a-f-]{{55}})"}}', re.DOTALL)
DURATIONS = frozenset(
    {"catch_up_within", "tolerance", "deadline", "jitter", "timeout", "retention"}
)

# The values of fields that a stored snapshot leaves out. They never change: stored rows outlive a
# change of a default.
UNSAID: dict[str, Any] = {
    "queue": "default",
    "priority": 1000,
    "grid": None,
    "retry": [0, 10_000_000, 600_000_000],
    "timeout": None,
    "on_unknown": "rerun",
    "overlap": "skip",
    "deadline": None,
    "jitter": 0,
    "tags": [],
    "redact": [],
    "limits": [],
}

NO_REST: Mapping[str, Any] = MappingProxyType({})

# The values of newer fields that a stored definition leaves out, for good as well.
LATER: dict[str, Any] = {
    "redact": UNSAID["redact"],
    "limits": UNSAID["limits"],
    "alert_after": 1,
    "retention": None,
    "keep": 100,
}
_LEFT_OUT = {Definition: UNSAID | LATER, Snapshot: UNSAID | {TRACE: ""}}

_NAMES = {
    kind: tuple(each.name for each in fields(kind) if each.name not in APART)
    for kind in (Definition, Snapshot)
}

# The fields of the text that equal rules share.
_SHARED = {kind: tuple(each for each in names if each != TRACE) for kind, names in _NAMES.items()}

_HINTS = {kind: get_type_hints(kind) for kind in (Definition, Snapshot)}

Write = Callable[[datetime], int | str]
Read = Callable[[Any], datetime]


def write_rules(value: Definition | Snapshot, *, instant: Write = microseconds_of) -> str:
    """Return the rules of a definition or snapshot as text; equal rules give equal texts."""
    own, names = vars(value), _SHARED[type(value)]
    values = tuple([own[name] for name in names])
    try:
        text = _written(names, values, instant)
    except TypeError:  # a grid of the user's own that has no hash
        text = _written.__wrapped__(names, values, instant)
    trace = own.get(TRACE)
    return f"{text[:-1]},{json.dumps(TRACE)}:{json.dumps(trace)}}}" if trace else text


@lru_cache(maxsize=16_384)
def _written(names: tuple[str, ...], values: tuple[object, ...], instant: Write) -> str:
    plain = (_plain(value, instant) for value in values)
    rules = dict(zip(names, plain, strict=True))
    # A definition has all fields but newer ones at their default: its text stays the same.
    unsaid = UNSAID if names is _SHARED[Snapshot] else LATER
    rules = {name: value for name, value in rules.items() if unsaid.get(name, ...) != value}
    return json.dumps(rules, separators=(",", ":"))


@lru_cache(maxsize=16_384)
def read_definition(text: str, *, instant: Read = instant_of) -> Definition:
    """Return a definition from its rules, without arguments. Equal texts share one value."""
    rules = _rules(text, Definition)
    until = rules["until"]
    return Definition(**rules | {"until": None if until is None else instant(until)})


def read_snapshot(text: str) -> Snapshot:
    """Return a snapshot from its rules, without name and arguments. Equal texts share one value."""
    if text[_TRACE_TAIL] == _BEFORE_TRACE and (found := _TRACED.fullmatch(text)):
        return copy_with(_read_snapshot(f"{found[1]}}}"), trace=found[2])
    return _read_snapshot(text)


def shared_rules(text: str) -> str:
    """Return the rules of a snapshot without its trace, as all executions of a kind have them."""
    if text[_TRACE_TAIL] == _BEFORE_TRACE and (found := _TRACED.fullmatch(text)):
        return f"{found[1]}}}"
    return text


@lru_cache(maxsize=16_384)
def _read_snapshot(text: str) -> Snapshot:
    return Snapshot(name="", **_rules(text, Snapshot))


def _plain(value: object, instant: Write) -> object:
    match value:
        case Grid():
            return value.to_json()
        case Retry():
            return _plain_retry(value)
        case timedelta():
            return value // MICROSECOND
        case datetime():
            return instant(value)
        case tuple():
            return [write_limit(each) if isinstance(each, LIMITS) else each for each in value]
        case _:
            return value


def _plain_retry(retry: Retry) -> list[object]:
    """Return limit, base and cap, and the rest of the policy only where there is any.

    A release that knows limit, base and cap alone reads a policy that has no more, and refuses any
    other.
    """
    plain = [retry.limit, retry.base // MICROSECOND, retry.cap // MICROSECOND]
    rest = {
        "jitter": retry.jitter // MICROSECOND,
        "only": list(retry.only),
        "never": list(retry.never),
    }
    said = {name: value for name, value in rest.items() if value}
    return [*plain, said] if said else [*plain]


def _read_retry(limit: int, base: int, cap: int, rest: Mapping[str, Any] = NO_REST) -> Retry:
    return Retry(
        limit,
        base=base * MICROSECOND,
        cap=cap * MICROSECOND,
        jitter=rest.get("jitter", 0) * MICROSECOND,
        only=rest.get("only", ()),
        never=rest.get("never", ()),
    )


def _is_stored_retry(value: object) -> bool:
    if not isinstance(value, list) or [type(each) for each in value[:3]] != [int] * 3:
        return False
    match value[3:]:
        case []:
            return True
        case [dict(rest)]:
            return all(_is_stored_part(name, part) for name, part in rest.items())
    return False


def _is_stored_part(name: str, value: object) -> bool:
    """Whether a value can be the stored form of a further part of a retry policy."""
    if name == "jitter":
        return type(value) is int
    return name in ("only", "never") and _is_stored(value, tuple[str, ...])


def _rules(text: str, kind: type[Definition | Snapshot]) -> dict[str, Any]:
    rules: dict[str, Any] = _LEFT_OUT[kind] | json.loads(text)
    _check_known(rules, kind)
    for name in DURATIONS & rules.keys():
        if rules[name] is not None:
            rules[name] *= MICROSECOND
    rules["retry"] = _read_retry(*rules["retry"])
    if rules["grid"] is not None:
        rules["grid"] = _grid(json.dumps(rules["grid"]))
    rules["limits"] = map(restore_limit, rules["limits"])
    return rules | {name: tuple(rules[name]) for name in ("tags", "redact", "limits")}


def _check_known(rules: dict[str, Any], kind: type[Definition | Snapshot]) -> None:
    """Raise PolicyError for a field, or a value in a field, that this release does not know."""
    for name, value in rules.items():
        if name not in _NAMES[kind]:
            raise PolicyError(name, value, allowed="the fields that this release knows")
        hint = _HINTS[kind][name]
        if not any(_is_stored(value, each) for each in _alternatives(hint)):
            raise PolicyError(name, value, allowed="the values that this release knows")


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _is_stored(value: object, hint: Any) -> bool:
    """Whether a value can be the stored form of a type."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint == tuple[Limit, ...]:
        return isinstance(value, list)
    if get_origin(hint) is tuple:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if hint is Retry:
        return _is_stored_retry(value)
    known = {timedelta: int, Grid: dict}.get(hint, hint)
    # Only the store knows how it writes an instant.
    return known is datetime or type(value) is known


@lru_cache(maxsize=16_384)
def _grid(text: str) -> Grid:
    """Return a grid; a definition and its snapshots share one object, which compares fast."""
    return read_grid(json.loads(text))
