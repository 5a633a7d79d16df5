"""Rules: the fields of a definition or snapshot as JSON, as stores keep them.

What every store keeps apart is left out: arguments, name and revision; and of a snapshot what is
usual, for one-off work carries its own, and there may be millions. Durations are whole
microseconds. How an instant is put is the store's own, for it is the store that sorts by them.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sempre.domain.definition import Definition
from sempre.domain.policies import Retry
from sempre.domain.snapshot import Snapshot
from sempre.grids.foreign import read_grid
from sempre.grids.grid import Grid
from sempre.grids.instants import instant_of, microseconds_of

__all__ = ["read_definition", "read_snapshot", "write_rules"]

MICROSECOND = timedelta(microseconds=1)
APART = frozenset({"args", "name", "revision"})
DURATIONS = frozenset({"catch_up_within", "tolerance", "deadline", "jitter", "timeout"})

# What a snapshot does not say. It means this for ever: rows that were stored with it outlive a
# default that changes.
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
}

_NAMES = {
    kind: tuple(each.name for each in fields(kind) if each.name not in APART)
    for kind in (Definition, Snapshot)
}

Write = Callable[[datetime], int | str]
Read = Callable[[Any], datetime]


def write_rules(value: Definition | Snapshot, *, instant: Write = microseconds_of) -> str:
    """Return the rules of a definition or snapshot as text; equal ones give equal texts."""
    own, names = vars(value), _NAMES[type(value)]
    values = tuple([own[name] for name in names])
    try:
        return _written(names, values, instant)
    except TypeError:  # a grid of the user's own that has no hash
        return _written.__wrapped__(names, values, instant)


@lru_cache(maxsize=16_384)
def _written(names: tuple[str, ...], values: tuple[object, ...], instant: Write) -> str:
    plain = (_plain(value, instant) for value in values)
    rules = dict(zip(names, plain, strict=True))
    if names is _NAMES[Snapshot]:
        rules = {name: value for name, value in rules.items() if UNSAID.get(name, ...) != value}
    return json.dumps(rules, separators=(",", ":"))


@lru_cache(maxsize=16_384)
def read_definition(text: str, *, instant: Read = instant_of) -> Definition:
    """Return the definition of its rules, without arguments. Equal texts share one value."""
    rules = _rules(text)
    until = rules["until"]
    return Definition(**rules | {"until": None if until is None else instant(until)})


@lru_cache(maxsize=16_384)
def read_snapshot(text: str) -> Snapshot:
    """Return the snapshot of its rules, without name and arguments. Equal texts share one value."""
    return Snapshot(name="", **_rules(text))


def _plain(value: object, instant: Write) -> object:
    match value:
        case Grid():
            return value.to_json()
        case Retry():
            return [value.limit, value.base // MICROSECOND, value.cap // MICROSECOND]
        case timedelta():
            return value // MICROSECOND
        case datetime():
            return instant(value)
        case tuple():
            return list(value)
        case _:
            return value


def _rules(text: str) -> dict[str, Any]:
    rules: dict[str, Any] = UNSAID | json.loads(text)
    for name in DURATIONS & rules.keys():
        if rules[name] is not None:
            rules[name] *= MICROSECOND
    limit, base, cap = rules["retry"]
    rules["retry"] = Retry(limit, base=base * MICROSECOND, cap=cap * MICROSECOND)
    if rules["grid"] is not None:
        rules["grid"] = _grid(json.dumps(rules["grid"]))
    return rules | {"tags": tuple(rules["tags"])}


@lru_cache(maxsize=16_384)
def _grid(text: str) -> Grid:
    """Return a grid, the same one for a definition and its snapshots, so that they compare fast."""
    return read_grid(json.loads(text))
