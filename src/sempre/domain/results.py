"""Results: the stored form of what a job returned, exact or marked as not stored.

A return value never fails a run. Plain JSON within the limit is stored unchanged. For every other
value an object with the key `$sempre` is stored:

    {"$sempre": "repr", "type": "decimal.Decimal", "text": "Decimal('99.90')"}    is no JSON
    {"$sempre": "too_large", "bytes": 120034, "limit": 65536}                     is over the limit
    {"$sempre": "plain", "value": {"$sempre": ...}}       the job's own object that has this key

So no value that a job returns can be mistaken for a mark, and `read_result` returns either the
exact value or what is known of it.
"""

import json
from dataclasses import dataclass

from sempre.domain.arguments import Json, check_json
from sempre.domain.redaction import capped, redacted, redacted_text, storable, withheld
from sempre.domain.redaction import withheld_text as without

__all__ = [
    "MARK",
    "RESULT_LIMIT",
    "NotJson",
    "TooLarge",
    "UnknownMark",
    "Unstored",
    "kept_result",
    "read_result",
    "result_in_words",
    "shown_result",
]

MARK = "$sempre"
RESULT_LIMIT = 65_536
LARGEST_REPR = 8192
# A repr of megabytes is cut to this size before it is searched for secret names.
QUICK_TO_READ = 32 * LARGEST_REPR


@dataclass(frozen=True)
class NotJson:
    """A value that is not JSON, or JSON that not every store can hold: its type and its repr."""

    type_name: str
    text: str


@dataclass(frozen=True)
class TooLarge:
    """A value whose JSON is larger than the limit, in bytes."""

    size: int
    limit: int


@dataclass(frozen=True)
class UnknownMark:
    """A mark of a newer release."""

    mark: str


Unstored = NotJson | TooLarge | UnknownMark
"""What is known of a value that was not stored."""


def kept_result(value: object, patterns: tuple[str, ...] = (), limit: int = RESULT_LIMIT) -> Json:
    """Return the stored form of a value that a job returned; a tuple becomes a list. Never raises.

    Args:
        value: anything.
        patterns: names whose values are masked before they are stored, as `redact=` has them.
        limit: the most bytes of JSON that are stored.
    """
    # Most jobs return such values; a child process would pay for every step below.
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53):
        return value
    try:
        return _kept_json(_text_of(value), patterns, limit)
    except Exception:  # noqa: BLE001 - the run is done, whatever its value cannot be written as
        return _marked_repr(value, patterns, limit)


def _kept_json(text: str, patterns: tuple[str, ...], limit: int) -> Json:
    """Return the stored form of a value that is JSON.

    Raises:
        ValueError: not every store can hold the value, or two of its keys are equal as text.
    """
    plain: Json = json.loads(text)
    if _text_of(plain) != text:
        raise ValueError("two keys of an object are the same text")
    masked = withheld(plain, patterns)
    size = len((_text_of(masked) if patterns else text).encode("utf-8", "surrogatepass"))
    if size > limit:
        return {MARK: "too_large", "bytes": size, "limit": limit}
    checked = check_json("result", masked)
    is_like_a_mark = isinstance(checked, dict) and MARK in checked
    return {MARK: "plain", "value": checked} if is_like_a_mark else checked


def read_result(stored: Json) -> "Json | Unstored":
    """Return what a job returned, or what is known of a value that was not stored."""
    if not isinstance(stored, dict) or MARK not in stored:
        return stored
    match stored:
        case {"$sempre": "plain", "value": value}:
            return value
        case {"$sempre": "repr", "type": str(type_name), "text": str(text)}:
            return NotJson(type_name, text)
        case {"$sempre": "too_large", "bytes": int(size), "limit": int(limit)}:
            return TooLarge(size, limit)
    return UnknownMark(str(stored[MARK]))


def shown_result(stored: Json, patterns: tuple[str, ...] = ()) -> Json:
    """Return a stored result, with its mark, redacted to be shown."""
    found = read_result(stored)
    if isinstance(found, NotJson):
        text = redacted_text(found.text, patterns)
        return {MARK: "repr", "type": found.type_name, "text": text}
    return redacted(stored, patterns)


def result_in_words(stored: Json, patterns: tuple[str, ...] = ()) -> str:
    """Return a stored result as one line for people; an empty text for None."""
    found = read_result(stored)
    if isinstance(found, NotJson):
        return redacted_text(found.text, patterns)
    if isinstance(found, TooLarge):
        return f"(not stored: {found.size:,} bytes, limit {found.limit:,})"
    if isinstance(found, UnknownMark):
        return f"(stored by a newer release as {found.mark})"
    shown = redacted(found, patterns)
    return "" if shown is None else json.dumps(shown, ensure_ascii=False)


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _text_of(value: object) -> str:
    return _encoder.encode(value)


def _marked_repr(value: object, patterns: tuple[str, ...], limit: int) -> Json:
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    name = f"{module}{kind.__qualname__}"
    text = storable(capped(_repr(value, name), QUICK_TO_READ))
    kept = capped(without(text, patterns), min(LARGEST_REPR, limit))
    return {MARK: "repr", "type": storable(name)[:200], "text": kept}


def _repr(value: object, name: str) -> str:
    try:
        return repr(value)
    except BaseException as error:  # noqa: BLE001 - the run is done, whatever its value does
        return f"<{name}, whose repr raised {type(error).__name__}>"
