"""The arguments of a job: plain JSON of a bounded size, checked before it is written."""

import json
import sys
from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias

from sempre.errors import ArgumentsError

__all__ = ["Json", "are_same_json", "check_arguments", "check_json"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

DEEPEST = 32
LARGEST_BYTES = 65_536
LARGEST_NUMBER = 2**63 - 1
FEW, SHORT = 16, 200
_BRIEF = frozenset({bool, int, float, type(None)})


def check_arguments(value: object) -> dict[str, Json]:
    """Return a copy of keyword arguments that every store gives back unchanged.

    Raises:
        ArgumentsError: naming the path, such as `args.rows[3].price`, and what is allowed there.
    """
    if not isinstance(value, Mapping):
        raise ArgumentsError("args", value, allowed="an object: keyword arguments by name")
    if not value:
        return {}
    checked = _object("args", value, 1, [LARGEST_BYTES])
    if _are_small(checked):
        return checked
    size = len(json.dumps(checked, ensure_ascii=False, separators=(",", ":")).encode())
    if size > LARGEST_BYTES:
        hint = f"These are {size:,} bytes: store the value and pass its id."
        allowed = f"at most {LARGEST_BYTES:,} bytes of JSON"
        raise ArgumentsError("args", sorted(checked), allowed=allowed, hint=hint)
    return checked


def check_json(path: str, value: Json) -> Json:
    """Return a copy of a JSON value, of any size, that every store gives back unchanged.

    Raises:
        ArgumentsError: naming the path, such as `result.rows[3]`, and what is allowed there.
    """
    return _checked(path, value, 1, [sys.maxsize])


def _are_small(checked: Mapping[str, Json]) -> bool:
    """Whether arguments are certainly below the limit, without counting their bytes."""
    return len(checked) <= FEW and all(
        len(key) <= SHORT and (type(item) in _BRIEF or (type(item) is str and len(item) <= SHORT))
        for key, item in checked.items()
    )


def are_same_json(one: object, other: object) -> bool:
    """Whether two values are equal as JSON; Python alone takes 1, 1.0 and True for equal."""
    if one is other or one == other == {}:
        return True
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _checked(path: str, value: object, depth: int, room: list[int]) -> Json:
    # Counted while it is read: a value with shared parts grows when it is written as JSON.
    room[0] -= 1
    if room[0] < 0:
        allowed = f"at most {LARGEST_BYTES:,} bytes of JSON"
        raise ArgumentsError("args", "...", allowed=allowed, hint="Store the value, pass its id.")
    if isinstance(value, Mapping | list) and depth > DEEPEST:
        raise ArgumentsError(path, "...", allowed=f"at most {DEEPEST} levels of nesting")
    if isinstance(value, Mapping):
        return _object(path, value, depth, room)
    if isinstance(value, list):
        return [_checked(f"{path}[{at}]", item, depth + 1, room) for at, item in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(path, value)
    if isinstance(value, int | float):
        return _number(path, value)
    hints: dict[type, str] = {
        tuple: "Write a list.",
        set: "Write a list.",
        bytes: "Write base64 text.",
    }
    allowed = "JSON: null, true, numbers, texts, lists, objects"
    raise ArgumentsError(path, value, allowed=allowed, hint=hints.get(type(value), ""))


def _object(
    path: str, value: Mapping[object, object], depth: int, room: list[int]
) -> dict[str, Json]:
    checked: dict[str, Json] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ArgumentsError(path, key, allowed="texts as keys of an object")
        checked[_text(path, key)] = _checked(f"{path}.{key}"[:200], item, depth + 1, room)
    return checked


def _text(path: str, value: str) -> str:
    if "\0" in value:
        raise ArgumentsError(path, value, allowed="text without NUL characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentsError(path, value, allowed="text without lone surrogates") from None
    # A plain str: a store would return the value of a subclass as a plain str.
    return str.__str__(value)


def _number(path: str, value: float) -> float:
    if isinstance(value, int):
        if not -LARGEST_NUMBER - 1 <= value <= LARGEST_NUMBER:
            hint = "Pass larger numbers as text."
            raise ArgumentsError(path, value, allowed="64-bit integers", hint=hint)
        return int(value)
    if not isfinite(value):
        hint = "JSON has no NaN and no infinity; pass null."
        raise ArgumentsError(path, value, allowed="finite numbers", hint=hint)
    return float(value)
