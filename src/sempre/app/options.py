"""The options of jobs and schedules, typed, so that a type checker knows a misspelt one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Required, TypedDict

from sempre.domain.policies import OnUnknown, Overlap, Retry
from sempre.domain.unique import Unique
from sempre.ports.executor import Isolation

__all__ = [
    "CronPairOptions",
    "DeclarationOptions",
    "Duration",
    "EveryPairOptions",
    "FunctionOptions",
    "GridOptions",
    "JobOptions",
    "PairOptions",
    "PolicyOptions",
    "ScheduleOptions",
    "SendOptions",
    "Sending",
    "SettingOptions",
    "UniqueOption",
    "WorkOptions",
]

Duration = timedelta | float | str
"""A length of time: a timedelta, seconds, or a text such as "90s" or "2 hours"."""

UniqueOption = bool | Sequence[str] | Unique
"""True for all arguments, the names of those that count, or a `Unique`."""


class WorkOptions(TypedDict, total=False):
    """What jobs and schedules have in common; docs/concepts/schedules.md explains each.

    Given to a job, they hold for all of its runs; a schedule's own value overrides, and its own
    tags are added to those of the job.
    """

    queue: str
    priority: int
    retry: Retry | int
    timeout: Duration | None
    on_unknown: OnUnknown
    tags: Sequence[str]


class FunctionOptions(TypedDict, total=False):
    """How a job's function is registered and run, whoever asks for it.

    name: under which it is registered; by default the function's own.
    isolation: "thread" (default for def), "async" (for async def) or "process", a child per run.
    memory: the most memory a child process may have, as bytes or text such as "512MB".
    redact: whole names, such as "iban" or "card_*": their values are masked in results, errors and
        notes of progress before those are stored. Arguments are stored as they are, and masked
        where they are shown.
    unique: of which work there may be one at a time, among what is put in by itself.
    """

    name: str
    isolation: Isolation
    memory: int | str
    redact: Sequence[str]
    unique: UniqueOption


class PolicyOptions(TypedDict, total=False):
    """The policies that only a schedule has; docs/concepts/schedules.md explains each."""

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
    owner: str | None
    note: str


class JobOptions(WorkOptions, FunctionOptions, total=False):
    """What `app.job` takes."""


class ScheduleOptions(WorkOptions, PolicyOptions, total=False):
    """What `app.create_schedules` takes besides names, grids and calls."""


class DeclarationOptions(ScheduleOptions, total=False):
    """What `app.add` takes besides a name, a grid and a call.

    adopt: takes the schedule over if another owner has its name; by default as `Sempre(adopt=)`.
    """

    adopt: bool


class GridOptions(WorkOptions, FunctionOptions, PolicyOptions, total=False):
    """What `app.every` and `app.cron` take besides their rule."""

    adopt: bool
    timezone: str
    gap: str
    fold: str


class PairOptions(WorkOptions, PolicyOptions, total=False):
    """What `job.pair` takes besides its rule and the options of its schedule.

    spread: over how long the starts of what it finds are spread.
    batch: how many are read and put in at a time; by default 1000.
    shards: among how many schedules the finding is divided; the query then takes `shard`, a number
        from 0 on, and perhaps `shards`.
    done: called with the arguments of the job before each run of it; true if the work is no longer
        needed, which is then skipped.
    contract: a second query, for everything that is unfinished for longer than `slo`; what it finds
        and the first one does not is reported as uncovered.
    slo: how long that is; the contract is called with it, as a timedelta, if it takes `slo`.
    database: where SQL is run: a SQLAlchemy engine, or a function that returns a new connection;
        by default the store's own database.
    """

    spread: Duration | None
    batch: int
    shards: int
    done: Callable[..., object] | None
    contract: Callable[..., object] | None
    slo: Duration | None
    adopt: bool
    database: object


class EveryPairOptions(PairOptions, total=False):
    """What `job.pair` takes with `every`, the time between two runs of the query, such as "1m"."""

    every: Required[Duration]


class CronPairOptions(PairOptions, total=False):
    """What `job.pair` takes with `cron`, a cron text, and its own `timezone` if it has one."""

    cron: Required[str]
    timezone: str


class SendOptions(TypedDict, total=False):
    """How a call is put in, by `job.options(...)` and `app.enqueue_many(...)`.

    delay: how long from now on it waits.
    at: from which instant on it may start; a delay is counted from there.
    queue, priority: instead of those of the job.
    unique: instead of that of the job; False for none.
    tx: a transaction of the caller's own, with which it commits or is rolled back.
    """

    delay: Duration | None
    at: datetime | str | None
    queue: str | None
    priority: int | None
    unique: UniqueOption | None
    tx: object


@dataclass(frozen=True)
class Sending:
    """How a call is put in, as given; nothing said means now, as the job is declared."""

    delay: Duration | None = None
    at: datetime | str | None = None
    queue: str | None = None
    priority: int | None = None
    unique: UniqueOption | None = None
    tx: object = None


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
    result_limit: int
    redact: Sequence[str]
    release: int
    owner: str | None
    adopt: bool
    timezone: str | None
