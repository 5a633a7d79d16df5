"""Immutable values, copied with some fields changed or made anew, fast enough for every claim."""

from typing import Any, TypeVar

__all__ = ["build", "copy_with"]

T = TypeVar("T")
# Of a frozen class there is no other way to set anything.
_set = object.__setattr__


def copy_with(value: T, **fields: Any) -> T:
    """Return a copy of a frozen dataclass with some fields set; TypeError for an unknown field.

    As `dataclasses.replace`, but it does not run the constructor again, which would cost more
    than all the rest of a claim. For plain dataclasses only: without slots, checks of their own
    or fields that others are computed from.
    """
    known = vars(value)
    copy, own = object.__new__(type(value)), known | fields
    _set(copy, "__dict__", own)
    if len(own) != len(known):
        message = f"{type(value).__name__} has no {', '.join(fields.keys() - known.keys())}"
        raise TypeError(message)
    return copy


def build(kind: type[T], /, **fields: Any) -> T:
    """Return a frozen dataclass of all its fields; TypeError if their number is another one.

    As its constructor, which costs several times as much, and with the same limits as `copy_with`.
    """
    value = object.__new__(kind)
    _set(value, "__dict__", fields)
    known = kind.__dataclass_fields__  # type: ignore[attr-defined]
    if len(known) != len(fields):
        message = f"{kind.__name__} is made of {', '.join(known)}, not of {', '.join(fields)}"
        raise TypeError(message)
    return value
