"""What is kept of a job's results and errors: without secrets, and no longer than a row may be.

Redaction goes by names: whatever stands under a key, or after a word, that sounds like a secret
is masked, and it masks too much rather than too little. It is a net, not a wall: a secret under a
harmless name, or printed without one, passes. Add such names by a job's `redact=`.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from sempre.domain.arguments import Json

__all__ = ["MASK", "capped", "capped_result", "kept_text", "redacted", "redacted_text"]

MASK = "[redacted]"
LARGEST_TEXT = 8192
# A little below the size of arguments, by whose rules a result is checked as well.
LARGEST_RESULT = 65_500
_WORDS = ("password", "passwd", "token", "secret", "key", "authorization")
# Every repetition has a bound: the time to read a text must not grow with the square of it.
_VALUE = r"""
    (?P<value>
        (?:[bru]{1,2}(?=["']))?
        (?: \[redacted\]
          | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
          | (?:bearer|basic|digest|token)\s{1,4}[^\s"',;]+
          | [^\s"',;&)\]}]+ )
    )"""
_BEARER = re.compile(r"\b(bearer\s{1,4})[\w.~+/=-]{6,}", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(://[^\s/?#:@\"']{0,256}:)[^\s/?#\"']{1,1024}@")


def redacted(value: Json, patterns: Iterable[str] = ()) -> Json:
    """Return a value with everything masked that stands under a key which sounds like a secret.

    Args:
        value: plain JSON; it is not changed.
        patterns: further parts of keys, in any case, with `*` and `?` as wildcards.
    """
    return _masked(value, _suspicious(tuple(patterns)))


def redacted_text(text: str, patterns: Iterable[str] = ()) -> str:
    """Return a text with masked values after `password=`, `token:` and the like, and in URLs.

    It never fails. `KeyError: 'region'` and its kin stay as they are: they name no secret.
    """
    masked = _suspicious_text(tuple(patterns)).sub(_mask_value, text)
    masked = _BEARER.sub(rf"\g<1>{MASK}", masked)
    return _URL_PASSWORD.sub(rf"\g<1>{MASK}@", masked)


def capped(text: str, limit: int = LARGEST_TEXT) -> str:
    """Return a text of at most `limit` bytes in UTF-8: all of it, or its head and its tail.

    The tail is the longer part, as a traceback ends with what matters.
    """
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return text
    note = f"\n[... {len(raw):,} bytes in all ...]\n"
    room = limit - len(note)
    if room <= 0:
        return raw[:limit].decode("utf-8", "ignore")
    head = room // 4
    tail = room - head
    return f"{_whole(raw[:head])}{note}{_whole(raw[-tail:])}"


def kept_text(text: str, patterns: Iterable[str] = (), limit: int = LARGEST_TEXT) -> str:
    """Return a text that every store can keep: redacted, capped, without NUL and surrogates.

    It is redacted before it is cut, as a cut between a name and its value would hide the name. A
    text of megabytes is first cut to a size that is quick to read, far from what is kept of it.
    """
    cut = capped(text, 32 * limit)
    storable = cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    return capped(redacted_text(storable, patterns), limit)


def capped_result(value: Json, limit: int = LARGEST_RESULT) -> Json:
    """Return a value, or in place of one that is too large a text that says so."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= limit:
        return value
    return f"[left out: {size:,} bytes of JSON; at most {limit:,} are kept]"


def _masked(value: Json, suspicious: re.Pattern[str]) -> Json:
    if isinstance(value, list):
        return [_masked(item, suspicious) for item in value]
    if isinstance(value, dict):
        return {
            key: MASK if suspicious.search(key) else _masked(item, suspicious)
            for key, item in value.items()
        }
    return value


@lru_cache(maxsize=256)
def _suspicious(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_any_of(patterns), re.IGNORECASE | re.DOTALL)


@lru_cache(maxsize=256)
def _suspicious_text(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # An error is named for what it is about, and what follows is its message.
    name = rf"(?P<name>(?:{_any_of(patterns)})(?![\w.-]{{0,64}}(?:error|exception|warning)\b)"
    between = r"""[\w.-]{0,64}["']?\]?\s{0,4}(?:=>|=(?!=)|:)\s{0,4})"""
    return re.compile(name + between + _VALUE, re.IGNORECASE | re.VERBOSE)


def _any_of(patterns: tuple[str, ...]) -> str:
    wild = {"*": r"[\w.-]{0,64}", "?": r"[\w.-]"}
    own = ["".join(wild.get(c, re.escape(c)) for c in pattern) for pattern in patterns if pattern]
    return "|".join([*_WORDS, *own])


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"].lstrip("bBrRuU")
    quote = value[0] if value[:1] in ("'", '"') else ""
    return f"{match['name']}{quote}{MASK}{quote}"


def _whole(raw: bytes) -> str:
    # Without the characters that were cut in two at its ends.
    return raw.decode("utf-8", "ignore")
