"""Definitions: what a user declares about a schedule: job, grid, arguments and policies.

This module reads and checks those values. The state of a schedule is in `Schedule`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, cast

from sempre.domain.arguments import Json, are_same_json, check_arguments
from sempre.domain.limits import Concurrency, Limit, Rate, read_limits
from sempre.domain.names import check_name, check_note, check_word
from sempre.domain.policies import OnUnknown, Overlap, Retry, check_choice, check_count
from sempre.domain.redaction import read_redact
from sempre.errors import GridError, PolicyError, nearest
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.grids.intervals import read_duration

__all__ = ["SHORTEST_RETENTION", "Definition", "define", "has_limits", "read_fields"]

SECOND = timedelta(seconds=1)
SHORTEST_RETENTION = timedelta(minutes=1)
# The sum of default settings: one lease of 30 s and two sweeps of 15 s.
TOLERANCE = timedelta(seconds=60)
KEEP = 100


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A schedule as declared. Use `define`, which reads the values that people write.

    Attributes:
        job: the registered name of the function to run.
        grid: when to run it.
        args: its keyword arguments.
        queue: the queue of its executions.
        priority: a lower number starts first.
        enabled: whether the schedule runs.
        catch_up: after a downtime, run every slot that passed, and not only the one that waits.
        catch_up_within: how old a slot may be to be caught up.
        catch_up_max: how many slots, the newest ones, are caught up at most.
        tolerance: how late a start may be without counting as downtime.
        deadline: how late a start may be at all.
        overlap: what to do with a slot while an earlier execution runs.
        jitter: the spread of the starts, below the distance between two slots.
        until: the last instant of a slot.
        limit: the number of first starts after which the schedule has ended.
        retry: what follows a failure.
        timeout: how long an execution may run.
        on_unknown: what follows a lease that expired.
        alert_after: the number of failures in a row from which the schedule counts as failing.
        retention: how long ended executions are kept; None for the setting of the application.
        keep: how many of the newest ended executions are kept whatever their age.
        tags: words to find the schedule by.
        redact: names whose values are masked where arguments are shown.
        limits: how many executions run at once or start in a time, over the whole fleet.
        owner: the code base that declares the schedule.
        note: a text for people.
    """

    job: str
    grid: Grid
    args: Mapping[str, Json] = field(default_factory=dict)
    queue: str = "default"
    priority: int = 1000
    enabled: bool = True
    catch_up: bool = False
    catch_up_within: timedelta | None = None
    catch_up_max: int | None = None
    tolerance: timedelta = TOLERANCE
    deadline: timedelta | None = None
    overlap: Overlap = "skip"
    jitter: timedelta = timedelta(0)
    until: datetime | None = None
    limit: int | None = None
    retry: Retry = Retry()  # noqa: RUF009 - an immutable value
    timeout: timedelta | None = None
    on_unknown: OnUnknown = "rerun"
    alert_after: int = 1
    retention: timedelta | None = None
    keep: int = KEEP
    tags: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    owner: str | None = None
    note: str = ""

    def kept_for(self, setting: timedelta) -> timedelta:
        """Return how long ended executions are kept, under the setting of the application."""
        return self.retention or setting

    def is_same_as(self, other: "Definition") -> bool:
        """Whether both definitions are equal, also in the types of their arguments."""
        return self == other and are_same_json(self.args, other.args)

    def edited(self, **changes: object) -> "Definition":
        """Return the definition with some fields read from what a user wrote."""
        return replace(self, **read_fields(changes))


def define(*, job: str, grid: Grid, **given: object) -> Definition:
    """Return a definition from what a user wrote; InvalidInput names the field and the remedy.

    >>> from sempre.grids import Cron
    >>> nightly = define(job="report", grid=Cron("0 2 * * *"), jitter="30s", retry=3)
    >>> nightly.jitter
    datetime.timedelta(seconds=30)
    """
    return Definition(**read_fields({"job": job, "grid": grid, **given}))


def read_fields(given: Mapping[str, object]) -> dict[str, Any]:
    """Return fields of a definition from what a user wrote; InvalidInput names the field.

    `limit` is a number of first starts, or limits over the fleet, which are the field `limits`.
    """
    if "limit" in given and has_limits(given["limit"]):
        limits = {"limits": read_limits("limit", given["limit"])}
        given = {name: value for name, value in given.items() if name != "limit"} | limits
    return {name: _read_field(name, value) for name, value in given.items()}


def has_limits(value: object) -> bool:
    """Whether a value after `limit=` stands for limits over the fleet, not for a number."""
    is_list = isinstance(value, list | tuple) and bool(value)
    return is_list or isinstance(value, Concurrency | Rate)


def _read_field(name: str, value: object) -> object:
    reader = _READERS.get(name)
    if reader is None:
        raise PolicyError(
            name, value, allowed="a field of a schedule", hint=nearest(name, _READERS)
        )
    if value is None and name in _OPTIONAL:
        return None
    return reader(name, value)


def _read_grid(name: str, value: object) -> Grid:
    if isinstance(value, Grid):
        return value
    raise GridError(name, value, allowed='Cron("..."), Every("...") or your own Grid')


def _read_flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise PolicyError(name, value, allowed="True or False")


def _read_retry(name: str, value: object) -> Retry:
    return value if isinstance(value, Retry) else Retry(check_count(name, value, least=0))


def _read_tags(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        raise PolicyError(name, value, allowed="a list of words")
    return tuple(sorted({check_word(name, tag) for tag in value}))


def _read_priority(name: str, value: object) -> int:
    priority = check_count(name, value, least=0)
    if priority < 2**31:
        return priority
    raise PolicyError(name, value, allowed="0 (soonest) to 2147483647")


def _positive(name: str, value: object) -> timedelta:
    return read_duration(name, value, least=SECOND)


_READERS: dict[str, Any] = {
    "job": check_name,
    "grid": _read_grid,
    "args": lambda _, value: check_arguments(value),
    "queue": check_word,
    "priority": _read_priority,
    "enabled": _read_flag,
    "catch_up": _read_flag,
    "catch_up_within": _positive,
    "catch_up_max": lambda name, value: check_count(name, value, least=0),
    "tolerance": read_duration,
    "deadline": _positive,
    "overlap": lambda name, value: cast("Overlap", check_choice(name, value, Overlap)),
    "jitter": read_duration,
    "until": read_instant,
    "limit": lambda name, value: check_count(name, value, least=1),
    "retry": _read_retry,
    "timeout": _positive,
    "on_unknown": lambda name, value: cast("OnUnknown", check_choice(name, value, OnUnknown)),
    "alert_after": lambda name, value: check_count(name, value, least=1),
    "retention": lambda name, value: read_duration(name, value, least=SHORTEST_RETENTION),
    "keep": lambda name, value: check_count(name, value, least=0),
    "tags": _read_tags,
    "redact": lambda _, value: read_redact(value),
    "limits": read_limits,
    "owner": check_word,
    "note": check_note,
}
_OPTIONAL = frozenset(
    {
        *("catch_up_within", "catch_up_max", "deadline", "until", "limit", "timeout"),
        *("retention", "owner"),
    }
)
assert _READERS.keys() == {each.name for each in fields(Definition)}  # noqa: S101
