"""What a job returned: plain JSON that every store gives back unchanged, or a clear refusal."""

import json

from sempre.domain.arguments import Json, check_arguments
from sempre.domain.redaction import capped_result, redacted
from sempre.errors import ArgumentsError, ResultError

__all__ = ["kept_result"]

_ALLOWED = "JSON: null, true, numbers, texts, lists, objects"


def kept_result(value: object, patterns: tuple[str, ...] = ()) -> Json:
    """Return what is kept of a result: plain, redacted and capped; a tuple becomes a list.

    Raises:
        ResultError: it is no JSON, or JSON that not every store can hold; it names the type.
    """
    # What most jobs return; a child process would pay for every step that follows.
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53):
        return value
    capped = capped_result(_plain(value))
    try:
        # The rules of arguments hold for results too, as the same stores keep both.
        checked = check_arguments({"result": capped})["result"]
    except ArgumentsError as error:
        field = error.field.removeprefix("args.")
        raise ResultError(field, error.value, allowed=error.allowed, hint=error.hint) from None
    return redacted(checked, patterns)


def _plain(value: object) -> Json:
    try:
        plain: Json = json.loads(json.dumps(value, allow_nan=False, default=_refuse))
    except ResultError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        hint = f"It is a {type(value).__name__}, but: {error}."
        raise ResultError("result", value, allowed=_ALLOWED, hint=hint) from None
    return plain


def _refuse(part: object) -> Json:
    hint = f"This is a {type(part).__qualname__}: return its text, or store it and return its id."
    if hasattr(part, "send") and hasattr(part, "close"):
        hint = "It is a generator, whose body never ran: return instead of yield."
    raise ResultError("result", part, allowed=_ALLOWED, hint=hint)
