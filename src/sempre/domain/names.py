"""Names that users give: what they may consist of, so that they are safe in every store and log."""

import re

from sempre.errors import NamingError, PolicyError

__all__ = ["check_name", "check_note", "check_word"]

LONGEST_NAME = 200
LONGEST_NOTE = 2000
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}", re.ASCII)


def check_name(field: str, value: object) -> str:
    """Return a name of a schedule or job: readable text, no control characters, no outer space."""
    allowed = f"1-{LONGEST_NAME} printable characters without spaces at its ends"
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_NAME:
        raise NamingError(field, value, allowed=allowed)
    if not value.isprintable() or value != value.strip():
        better = " ".join("".join(c if c.isprintable() else " " for c in value).split())
        hint = f"Perhaps {better}?" if better else ""
        raise NamingError(field, value, allowed=allowed, hint=hint)
    return value


def check_word(field: str, value: object) -> str:
    """Return a name of a queue, tag or owner: one plain word, safe in broker protocols."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        allowed = "1-100 letters, digits and _ . : / -, beginning with a letter, digit or _"
        raise NamingError(field, value, allowed=allowed)
    return value


def check_note(field: str, value: object) -> str:
    """Return a note for people: any text of a bounded length that every store can keep."""
    allowed = f"a text of at most {LONGEST_NOTE} characters, without NUL or lone surrogates"
    if not isinstance(value, str) or len(value) > LONGEST_NOTE or "\0" in value:
        raise PolicyError(field, value, allowed=allowed)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PolicyError(field, value, allowed=allowed) from None
    return value
