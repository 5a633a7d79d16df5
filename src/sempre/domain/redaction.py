"""Redaction: the one place that decides which values are secret, and how long a text may be.

Results and arguments are stored exactly, and masked by `redacted` wherever they are shown: on the
command line, in logs and wherever else. Errors and notes of progress are texts for people:
`kept_text` masks them before they are stored.

A secret is known by its whole name, in any case, whether its words are joined by `_`, by `-` or
not at all: `api_key`, `API-Key` and `apiKey` are one name; `key` and `monkey` are harmless. In a
text the last part of a longer name counts too, as in `DB_PASSWORD=...`. A secret under a harmless
name passes: add that name by `redact=` of a job or of the application.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from sempre.domain.arguments import Json
from sempre.errors import PolicyError

__all__ = [
    "LARGEST_TEXT",
    "MASK",
    "SECRET_NAMES",
    "capped",
    "is_secret_name",
    "kept_text",
    "read_redact",
    "redacted",
    "redacted_text",
    "storable",
    "withheld",
    "withheld_text",
]

MASK = "[redacted]"
LARGEST_TEXT = 8192
SECRET_NAMES = (
    "access_key",
    "access_token",
    "account_key",
    "api_key",
    "api_secret",
    "api_token",
    "app_secret",
    "auth",
    "auth_token",
    "authorization",
    "aws_secret_access_key",
    "bearer_token",
    "client_secret",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "csrf_token",
    "database_password",
    "db_password",
    "encryption_key",
    "id_token",
    "jwt",
    "new_password",
    "old_password",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "private_key",
    "proxy_authorization",
    "pwd",
    "refresh_token",
    "root_password",
    "secret",
    "secret_access_key",
    "secret_key",
    "secret_token",
    "secrets",
    "session",
    "session_token",
    "set_cookie",
    "shared_secret",
    "signing_key",
    "signing_secret",
    "sslpassword",
    "token",
    "user_password",
    "webhook_secret",
    "x_api_key",
    "x_auth_token",
    "x_csrf_token",
)
# Every repetition has a bound: the time must not grow with the square of the length of a text.
_BETWEEN = r"""["']?\]?\s{0,4}(?:=>|=(?!=)|:)\s{0,4}"""
_VALUE = r"""
    (?P<value>
        (?:[bru]{1,2}(?=["']))?
        (?: \[redacted\]
          | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
          | (?:bearer|basic|digest|token)\s{1,4}[^\s"',;]+
          | [^\s"',;&)\]}]+ )
    )"""
_BEARER = re.compile(r"\b(bearer\s{1,4})[\w.~+/=-]{6,}", re.IGNORECASE)
# A password may have any character but a blank or a quote. Digits before a / are a port, and the
# text before a later @ is no password, unless the URL is of a database: its path has no @.
_URL_PASSWORD = re.compile(r"(://[^\s/?#:@\"']{0,256}:)(?![0-9]{1,5}[/?#])[^\s\"']{1,1024}@")
_DATABASE_PASSWORD = re.compile(
    r"\b((?:postgres|postgresql|mysql|mariadb|rediss?|amqps?|mongodb)(?:\+\w{1,32})?://"
    r"[^\s/?#:@\"']{0,256}:)[^\s\"']{1,1024}@",
    re.IGNORECASE,
)
# Redis has no users by default: a single word before the @ is meant as the password.
_LONE_PASSWORD = re.compile(r"\b(rediss?://)[^\s:\"']{1,1024}@", re.IGNORECASE)
_JOINTS = re.compile("[-_]")


def redacted(value: Json, patterns: Iterable[str] = ()) -> Json:
    """Return a value with the values under secret names masked, to be shown.

    Args:
        value: plain JSON; it is not changed.
        patterns: further whole names, in any case, with `*` and `?` as wildcards.
    """
    return _masked(value, _is_secret(SECRET_NAMES + tuple(patterns)), _without_url_secrets)


def is_secret_name(name: str) -> bool:
    """Whether the value under a name is masked by default."""
    return _is_secret(SECRET_NAMES)(name)


def withheld(value: Json, patterns: Iterable[str]) -> Json:
    """Return a value with the values under the names of `redact=` masked, to be stored."""
    names = tuple(patterns)
    return _masked(value, _is_secret(names), str) if names else value


def redacted_text(text: str, patterns: Iterable[str] = ()) -> str:
    """Return a text with masked values after `password=`, `token:` and the like, and in URLs.

    It never fails. A text such as `KeyError: 'region'` stays unchanged: it names no secret.
    """
    masked = withheld_text(text, SECRET_NAMES + tuple(patterns))
    masked = _BEARER.sub(rf"\g<1>{MASK}", masked)
    return _without_url_passwords(masked)


def withheld_text(text: str, patterns: Iterable[str]) -> str:
    """Return a text with the values after these names masked."""
    names = tuple(filter(None, patterns))
    return _named_values(names).sub(_mask_value, text) if names else text


def capped(text: str, limit: int = LARGEST_TEXT) -> str:
    """Return a text of at most `limit` bytes in UTF-8: the whole text, or its head and its tail.

    The tail is the longer part: a traceback ends with the error.
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


def storable(text: str) -> str:
    """Return a text that every store can keep: without NUL and lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def kept_text(text: str, patterns: Iterable[str] = (), limit: int = LARGEST_TEXT) -> str:
    """Return a text that every store can keep: redacted, capped, without NUL and surrogates.

    The text is redacted before it is cut: a cut between a name and its value would hide the name.
    A text of megabytes is first cut to 32 times the limit, which is quick to search.
    """
    return capped(redacted_text(storable(capped(text, 32 * limit)), patterns), limit)


def read_redact(value: object) -> tuple[str, ...]:
    """Return the names that a user wrote after `redact=`; PolicyError if not a list of names."""
    if isinstance(value, list | tuple | set | frozenset):
        names = tuple(sorted({each.strip() for each in value if isinstance(each, str)}))
        if all(isinstance(each, str) for each in value) and all(names):
            return names
    raise PolicyError("redact", value, allowed='a list of whole names, such as ["iban"]')


def _masked(value: Json, is_secret: Callable[[str], bool], text: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_masked(item, is_secret, text) for item in value]
    if isinstance(value, dict):
        return {
            key: MASK if is_secret(key) else _masked(item, is_secret, text)
            for key, item in value.items()
        }
    return value


def _without_url_passwords(text: str) -> str:
    if "://" in text:
        for pattern in (_URL_PASSWORD, _DATABASE_PASSWORD, _LONE_PASSWORD):
            text = pattern.sub(rf"\g<1>{MASK}@", text)
    return text


def _without_url_secrets(text: str) -> str:
    """Return a text without the secrets in its URLs, in options too."""
    return redacted_text(text) if "://" in text else text


@lru_cache(maxsize=256)
def _is_secret(names: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate: whether a key is one of these names."""
    known = {_JOINTS.sub("", name).casefold() for name in names if name}
    wild = [name for name in known if "*" in name or "?" in name]
    pattern = re.compile("|".join(_wild(name, ".*", ".") for name in wild) or "(?!)", re.DOTALL)

    def is_secret(key: str) -> bool:
        plain = _JOINTS.sub("", key).casefold()
        return plain in known or pattern.fullmatch(plain) is not None

    return is_secret


@lru_cache(maxsize=256)
def _named_values(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds these names in a text, each with the value that follows."""
    words = [r"[-_]?".join(map(_in_text, _JOINTS.split(name))) for name in names]
    name = rf"(?P<name>(?<![^\W_])(?:{'|'.join(words)}){_BETWEEN})"
    return re.compile(name + _VALUE, re.IGNORECASE | re.VERBOSE)


def _in_text(word: str) -> str:
    return _wild(word, r"[\w.-]{0,64}", r"[\w.-]")


def _wild(name: str, many: str, one: str) -> str:
    return "".join({"*": many, "?": one}.get(each, re.escape(each)) for each in name)


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"].lstrip("bBrRuU")
    quote = value[0] if value[:1] in ("'", '"') else ""
    return f"{match['name']}{quote}{MASK}{quote}"


def _whole(raw: bytes) -> str:
    # Characters that were cut in two at the ends are dropped.
    return raw.decode("utf-8", "ignore")
