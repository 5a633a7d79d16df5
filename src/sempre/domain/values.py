"""Copies and builders of immutable values, fast enough for every claim.

The constructor of a frozen dataclass calls a function for each field, which costs more than all
the rest of a claim. `copy_with` and `builder` avoid these calls. Both are for plain dataclasses:
with a `__dict__`, and without checks or computed fields of their own. Type checkers see the names
and types of the fields.
"""

from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass, make_dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

__all__ = ["builder", "copy_with"]

P = ParamSpec("P")
T = TypeVar("T")
# A frozen class refuses every other way to set an attribute.
_set = object.__setattr__

if TYPE_CHECKING:
    # Type checkers know this function by name: they check the fields of its keywords.
    from dataclasses import replace as copy_with
else:

    def copy_with(value: T, **changes: Any) -> T:
        """Return a copy of a frozen dataclass with some fields set; TypeError for an unknown field.

        Like `dataclasses.replace`, but the constructor does not run.
        """
        known = vars(value)
        copy, own = object.__new__(type(value)), known | changes
        _set(copy, "__dict__", own)
        if len(own) != len(known):
            message = f"{type(value).__name__} has no {', '.join(changes.keys() - known.keys())}"
            raise TypeError(message)
        return copy


def builder(kind: Callable[P, T]) -> Callable[P, T]:
    """Return a function that builds a frozen dataclass, faster than its constructor does.

    The function takes the constructor's arguments, by keyword only. TypeError is raised for a field
    that is missing or does not exist. Call `builder` once per class, when its module is loaded.

    Raises:
        TypeError: the constructor does more than to set fields.
    """
    if not isinstance(kind, type) or not _is_plain(kind):
        message = f"{getattr(kind, '__name__', kind)} needs its own constructor"
        raise TypeError(message)

    def freeze(value: Any) -> None:
        value.__class__ = kind

    # A twin of the class that is not frozen: Python sets its attributes without a call.
    specs = [(each.name, each.type, _default_of(each)) for each in fields(kind)]
    name, after = kind.__name__, {"__post_init__": freeze}
    twin = make_dataclass(name, specs, kw_only=True, eq=False, repr=False, namespace=after)
    return cast("Callable[P, T]", twin)


def _is_plain(kind: type) -> bool:
    """Whether a class is a dataclass whose constructor sets its fields and does nothing else."""
    if not is_dataclass(kind) or hasattr(kind, "__post_init__") or "__slots__" in vars(kind):
        return False
    # With init=False a class has a constructor of its own, or a field is computed.
    has_init = kind.__dataclass_params__.init  # type: ignore[attr-defined]
    return has_init and all(each.init for each in fields(kind))


def _default_of(known: "Field[Any]") -> "Field[Any]":
    return field(default=known.default, default_factory=known.default_factory)
