"""Exception types by their qualified names, such as `builtins.ConnectionError`.

A retry policy is stored, and an operator who edits a policy has no code. So a policy names types, a
failure carries the names of its exception's type and base types, and only names are compared: a
name is never imported.
"""

import builtins

from sempre.errors import PolicyError, nearest

__all__ = ["LONGEST_NAME", "MOST_NAMES", "ExceptionTypes", "read_types", "type_names"]

MOST_NAMES = 32
LONGEST_NAME = 200

ExceptionType = type[BaseException] | str
ExceptionTypes = ExceptionType | list[ExceptionType] | tuple[ExceptionType, ...]
"""One exception type or several, each as a class or by its qualified name."""

_ALLOWED = 'exception classes, or their names such as "myapp.errors.Fatal" or "ConnectionError"'
_BUILTIN = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


def type_names(kind: type[BaseException]) -> tuple[str, ...]:
    """Return the qualified names of an exception type and its base types, the type itself first.

    A name over LONGEST_NAME bytes is left out. Of more than MOST_NAMES names, those in the middle
    are left out: the last two, such as `builtins.Exception`, are the bases that most policies name.
    """
    written = (_qualified(each) for each in kind.__mro__ if each is not object)
    names = tuple(name for name in written if _is_short(name))
    return names if len(names) <= MOST_NAMES else (*names[: MOST_NAMES - 2], *names[-2:])


def read_types(field: str, value: object) -> tuple[str, ...]:
    """Return the qualified names of exception types, in order and each once, or raise PolicyError.

    >>> read_types("only", (ConnectionError, "TimeoutError", "myapp.errors.Fatal"))
    ('builtins.ConnectionError', 'builtins.TimeoutError', 'myapp.errors.Fatal')
    """
    given = [value] if isinstance(value, str | type) else value
    if not isinstance(given, list | tuple | set | frozenset):
        raise PolicyError(field, value, allowed=_ALLOWED)
    names = sorted({_read_type(field, each) for each in given})
    if len(names) > MOST_NAMES:
        hint = "Name a base class that they share."
        counted = f"{len(names)} types"
        raise PolicyError(field, counted, allowed=f"at most {MOST_NAMES} types", hint=hint)
    return tuple(names)


def _read_type(field: str, value: object) -> str:
    if isinstance(value, type) and issubclass(value, BaseException):
        name = _qualified(value)
    elif isinstance(value, str):
        name = _read_name(field, value.strip())
    else:
        raise PolicyError(field, value, allowed=_ALLOWED)
    if not all(part.isidentifier() or part == "<locals>" for part in name.split(".")):
        raise PolicyError(field, value, allowed=_ALLOWED)
    if not _is_short(name):
        raise PolicyError(field, value, allowed=f"a name of at most {LONGEST_NAME} bytes")
    return name


def _read_name(field: str, name: str) -> str:
    """Return the qualified name that a user means; a name without a module is of a built-in."""
    short = name.removeprefix("builtins.")
    if short in _BUILTIN:
        # Not the name as written: IOError is another name of OSError.
        return _qualified(_BUILTIN[short])
    if "." in name:
        return name
    hint = nearest(name, _BUILTIN) or "Write the module of your own class too."
    raise PolicyError(field, name, allowed=_ALLOWED, hint=hint)


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_short(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) <= LONGEST_NAME
