"""Limits over the whole fleet: how many executions run at once, and how many start in a time."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TypeAlias

from sempre.domain.arguments import Json
from sempre.domain.names import check_word
from sempre.domain.policies import check_count
from sempre.domain.redaction import redacted
from sempre.errors import IntervalError, PolicyError
from sempre.errors.wording import counted, written_length
from sempre.grids.intervals import read_duration

__all__ = [
    "ALLOWED",
    "LONGEST_PERIOD",
    "Concurrency",
    "Limit",
    "Rate",
    "read_limits",
    "restore_limit",
    "write_limit",
]

LONGEST_KEY = 240
"""The most characters of a key; `held_by` contains the key and has 255 in MariaDB."""
LONGEST_PERIOD = timedelta(days=1)
ALLOWED = 'Concurrency(3), Rate("100/m"), or a list of one Concurrency and one Rate'
MICROSECOND = timedelta(microseconds=1)
_RATE = re.compile(r"\s*([0-9]+)\s*/\s*(.+?)\s*")
_text_of = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class _Keyed:
    """What a limit counts together: executions of a job or tag, by the values of arguments."""

    word: str
    key: tuple[str, ...]
    tag: str

    def key_of(self, job: str, args: Mapping[str, Json], redact: Sequence[str] = ()) -> str:
        """Return the key under which executions are counted; a missing argument counts as null.

        Secret values, texts beyond ASCII and long texts become a digest: people see the key.
        """
        subject = f"tag:{self.tag}" if self.tag else f"job:{job}"
        if not self.key:
            return self._stored(subject)
        chosen: Json = {name: args.get(name) for name in self.key}
        values, is_secret = _text_of(chosen), redacted(chosen, redact) != chosen
        return self._stored(f"{subject}:{_digest(values) if is_secret else values}")

    def subject_of(self, job: str) -> str:
        """Return in words what the limit counts, such as `mail by tenant`."""
        by = f" by {', '.join(self.key)}" if self.key else ""
        return f"{f'tag {self.tag}' if self.tag else job}{by}"

    @property
    def is_keyed(self) -> bool:
        """Whether arguments decide under which key an execution counts."""
        return bool(self.key)

    def _stored(self, text: str) -> str:
        is_plain = text.isascii() and len(text) <= LONGEST_KEY
        return f"{self.word}:{text if is_plain else _digest(text)}"


@dataclass(frozen=True, init=False)
class Concurrency(_Keyed):
    """Allows a number of executions to run at once, over the whole fleet.

    >>> Concurrency(3, key=["tenant"])
    Concurrency(3, key=['tenant'])

    Args:
        count: how many executions run at once.
        key: the names of arguments; each of their values is counted for itself.
        tag: a name that several jobs share, which are then counted together; without it, each job
            is counted for itself.

    Raises:
        PolicyError: a count below 1, or a key that is not a list of names.
        NamingError: the tag is not one plain word.
    """

    count: int
    key: tuple[str, ...]
    tag: str

    word = "concurrency"

    def __init__(self, count: int, *, key: Sequence[str] = (), tag: str = "") -> None:
        """Check what the user wrote."""
        object.__setattr__(self, "count", check_count(self.word, count, least=1))
        object.__setattr__(self, "key", _read_key(self.word, key))
        object.__setattr__(self, "tag", _read_tag(self.word, tag))

    def __repr__(self) -> str:
        """Write the limit as code."""
        return f"Concurrency({self.count}{_options(self.key, self.tag)})"

    @property
    def words(self) -> str:
        """The limit in words."""
        return f"{counted(self.count, 'run')} at once"


@dataclass(frozen=True, init=False)
class Rate(_Keyed):
    """Allows a number of starts in any stretch of a length of time, over the whole fleet.

    A retry is a start too. The window slides: a start is allowed as soon as fewer than `count`
    starts are younger than the period.

    >>> Rate("100/m", tag="mail")
    Rate('100/1m', tag='mail')

    Args:
        text: a number and a length of time from 1 second to 1 day, such as "5/s" or "100/10m".
        key: the names of arguments; each of their values is counted for itself.
        tag: a name that several jobs share, which are then counted together.

    Raises:
        PolicyError: a text that is not such a rate, or a key that is not a list of names.
        NamingError: the tag is not one plain word.
    """

    count: int
    period: timedelta
    key: tuple[str, ...]
    tag: str

    word = "rate"

    def __init__(self, text: str, *, key: Sequence[str] = (), tag: str = "") -> None:
        """Check what the user wrote."""
        count, period = _read_rate(text)
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "period", period)
        object.__setattr__(self, "key", _read_key(self.word, key))
        object.__setattr__(self, "tag", _read_tag(self.word, tag))

    def __repr__(self) -> str:
        """Write the limit as code."""
        text = f"{self.count}/{written_length(self.period)}"
        return f"Rate({text!r}{_options(self.key, self.tag)})"

    @property
    def words(self) -> str:
        """The limit in words."""
        return f"{counted(self.count, 'start')} in {written_length(self.period)}"


Limit: TypeAlias = Concurrency | Rate


def read_limits(field: str, value: object) -> tuple[Limit, ...]:
    """Return the limits that a user wrote: the concurrency first, at most one of each.

    Raises:
        PolicyError: the value is not one of the allowed forms.
    """
    given = value if isinstance(value, list | tuple) else (value,)
    found = [each for each in given if isinstance(each, Concurrency | Rate)]
    if len(found) < len(given) or len({each.word for each in found}) < len(found):
        raise PolicyError(field, value, allowed=ALLOWED)
    return tuple(sorted(found, key=lambda limit: limit.word))


def write_limit(limit: Limit) -> list[Json]:
    """Return the stored form of a limit: its word, numbers, key and tag."""
    numbers: list[Json] = [limit.count]
    if isinstance(limit, Rate):
        numbers.append(limit.period // MICROSECOND)
    return [limit.word, *numbers, list(limit.key), limit.tag]


def restore_limit(stored: object) -> Limit:
    """Return a limit from its stored form; PolicyError for a form of a newer release."""
    match stored:
        case ["concurrency", int(count), list(key), str(tag)]:
            return Concurrency(count, key=key, tag=tag)
        case ["rate", int(count), int(period), list(key), str(tag)]:
            return Rate(f"{count}/{period / 10**6}s", key=key, tag=tag)
    raise PolicyError("limits", stored, allowed="the limits that this release knows")


def _read_rate(text: object) -> tuple[int, timedelta]:
    allowed = 'a number and a time from 1 second to 1 day, such as "5/s" or "100/10m"'
    found = _RATE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise PolicyError("rate", text, allowed=allowed)
    written = found[2] if found[2][0].isdigit() else f"1{found[2]}"
    try:
        period = read_duration("rate", written, least=timedelta(seconds=1))
    except IntervalError as error:
        raise PolicyError("rate", text, allowed=allowed) from error
    if period > LONGEST_PERIOD:
        raise PolicyError("rate", text, allowed=allowed)
    return check_count("rate", int(found[1]), least=1), period


def _read_key(field: str, value: object) -> tuple[str, ...]:
    is_list = isinstance(value, list | tuple)
    names = tuple(value) if isinstance(value, list | tuple) else ()
    if not is_list or not all(isinstance(each, str) and each.isidentifier() for each in names):
        allowed = 'a list of names of arguments, such as ["tenant"]'
        raise PolicyError(f"key of the {field} limit", value, allowed=allowed)
    return tuple(sorted(set(names)))


def _read_tag(field: str, value: object) -> str:
    return "" if value == "" else check_word(f"tag of the {field} limit", value)


def _options(key: tuple[str, ...], tag: str) -> str:
    return (f", key={list(key)!r}" if key else "") + (f", tag={tag!r}" if tag else "")


def _digest(text: str) -> str:
    return f"sha256:{sha256(text.encode(errors='backslashreplace')).hexdigest()}"
