"""The options of jobs and schedules, typed, so that a type checker knows a misspelt one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from sempre.domain.policies import OnUnknown, Overlap, Retry
from sempre.ports.executor import Isolation

__all__ = ["Duration", "GridOptions", "JobOptions", "ScheduleOptions", "SettingOptions"]

Duration = timedelta | float | str
"""A length of time: a timedelta, seconds, or a text such as "90s" or "2 hours"."""


class JobOptions(TypedDict, total=False):
    """How a job's function is registered and run, whoever asks for it.

    name: under which it is registered; by default the function's own.
    isolation: "thread" (default for def), "async" (for async def) or "process", a child per run.
    memory: the most memory a child process may have, as bytes or text such as "512MB".
    redact: further names of arguments and keys whose values are never stored.
    """

    name: str
    isolation: Isolation
    memory: int | str
    redact: Sequence[str]


class ScheduleOptions(TypedDict, total=False):
    """The policies of a schedule; docs/concepts/schedules.md explains each."""

    queue: str
    priority: int
    enabled: bool
    catch_up: bool
    catch_up_within: Duration | None
    catch_up_max: int | None
    tolerance: Duration
    deadline: Duration | None
    overlap: Overlap
    jitter: Duration
    until: datetime | str | None
    limit: int | None
    retry: Retry | int
    timeout: Duration | None
    on_unknown: OnUnknown
    tags: Sequence[str]
    owner: str | None
    note: str


class GridOptions(ScheduleOptions, JobOptions, total=False):
    """What `app.every` and `app.cron` take besides their rule."""

    timezone: str
    gap: str
    fold: str


class SettingOptions(TypedDict, total=False):
    """Settings of `Sempre(...)`; each also as SEMPRE_<NAME> and in [tool.sempre]."""

    lease: Duration
    beat: Duration
    sweep: Duration
    grace: Duration
    watchdog_interval: Duration
    watchdog_priority: int
    horizon: Duration
    retention: Duration
    timeout: Duration
    drain: Duration
    release: int
    owner: str | None
