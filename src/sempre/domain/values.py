"""Copies of immutable values with some fields changed, fast enough for every claim."""

from typing import Any, TypeVar

__all__ = ["changed"]

T = TypeVar("T")


def changed(value: T, **fields: Any) -> T:
    """Return a copy of a frozen dataclass with some fields set; TypeError for an unknown field.

    As `dataclasses.replace`, but it does not run the constructor again, which would cost more
    than all the rest of a claim. For plain dataclasses only: without slots, checks of their own
    or fields that others are computed from.
    """
    known = vars(value)
    copy = object.__new__(type(value))
    own = vars(copy)
    own.update(known)
    own.update(fields)
    if len(own) != len(known):
        message = f"{type(value).__name__} has no {', '.join(fields.keys() - known.keys())}"
        raise TypeError(message)
    return copy
