"""Texts in errors: values in a short and printable form, and similar names."""

import json
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from reprlib import Repr
from typing import TYPE_CHECKING

from sempre.errors.wording import written_instant, written_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["as_shown", "nearest", "printable", "printable_json"]

SHOWN_LENGTH = 80


# Long or deep values are cut before they are written out.
class _Short(Repr):
    """Writes values briefly, and times as a person does, wherever they stand in a value."""

    def repr_datetime(self, value: datetime, _level: int) -> str:
        return written_instant(value)

    def repr_date(self, value: date, _level: int) -> str:
        return value.isoformat()

    def repr_time(self, value: time, _level: int) -> str:
        return value.isoformat("auto")

    def repr_timedelta(self, value: timedelta, _level: int) -> str:
        return written_length(value)


SHORT = _Short()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = 2 * SHOWN_LENGTH


def nearest(value: str, known: "Iterable[str]", *, count: int = 3, cutoff: float = 0.6) -> str:
    """Return a "Did you mean ...?" sentence, or an empty text if no known name is similar."""
    by_folded = {name.casefold(): name for name in known}
    matches = get_close_matches(value.casefold(), by_folded, n=count, cutoff=cutoff)
    if not matches:
        return ""
    return f"Did you mean {' or '.join(by_folded[match] for match in matches)}?"


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text without characters that end a line, control a terminal or reverse a line.

    Controls, C1 codes, bidirectional marks and lone surrogates are written as \x1b or \u202e; the
    characters of `keep`, such as a newline, stay.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else _escaped(each) for each in text)


def printable_json(value: object, *, default: "Callable[[object], object] | None" = None) -> str:
    """Return JSON on one line in printable characters; what is not printable is escaped in it."""
    text = json.dumps(value, ensure_ascii=False, default=default)
    if text.isprintable():
        return text
    # Only the texts in JSON can have unprintable characters, and JSON has escapes for these.
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def as_shown(value: object) -> str:
    """Return a value for a message: short, and in printable characters."""
    try:
        text = f'"{value}"' if isinstance(value, str) else SHORT.repr(value)
    except Exception:  # noqa: BLE001 - the error is about the value, not about its text
        text = f"a value of type {type(value).__name__}"
    shown = printable(text[:SHOWN_LENGTH])
    return shown if len(text) <= SHOWN_LENGTH else f"{shown}..."


def _escaped(character: str) -> str:
    # As Python writes them; also a lone surrogate, which has no UTF-8 encoding.
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
