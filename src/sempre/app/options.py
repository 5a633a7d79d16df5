"""The options of jobs, schedules and settings, typed: a type checker finds a misspelt one."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Required, TypedDict

from sempre.domain.arguments import Json
from sempre.domain.limits import Limit
from sempre.domain.policies import OnUnknown, Overlap, Retry
from sempre.domain.unique import Unique
from sempre.ports.executor import Isolation

__all__ = [
    "CronPairOptions",
    "DeclarationOptions",
    "Duration",
    "EditOptions",
    "EnqueueOptions",
    "EveryPairOptions",
    "FunctionOptions",
    "GridOptions",
    "JobOptions",
    "LimitOption",
    "PairOptions",
    "PolicyOptions",
    "ScheduleOptions",
    "SettingOptions",
    "UniqueOption",
    "WorkOptions",
]

Duration = timedelta | float | str
"""A length of time: a timedelta, seconds, or a text such as "90s" or "2 hours"."""

UniqueOption = bool | Sequence[str] | Unique
"""True for all arguments, the names of those that count, or a `Unique`."""

LimitOption = Limit | Sequence[Limit]
"""A `Concurrency`, a `Rate`, or a list of one of each."""


class WorkOptions(TypedDict, total=False):
    """Options that jobs and schedules share; docs/concepts/schedules.md explains each.

    Those of a job hold for all of its runs. A schedule's own value overrides the job's, but its
    tags are added to those of the job.
    """

    queue: str
    priority: int
    retry: Retry | int
    timeout: Duration | None
    on_unknown: OnUnknown
    alert_after: int
    tags: Sequence[str]


class FunctionOptions(TypedDict, total=False):
    """How a job's function is registered and run, on a schedule or enqueued.

    name: of the job; by default that of the function.
    isolation: "thread" (default for def), "async" (for async def) or "process", a child per run.
    memory: the most memory a child process may have, as bytes or text such as "512MB".
    redact: whole names, such as "iban" or "card_*": their values are masked in results, errors and
        notes of progress before these are stored. Arguments are stored as given, and masked where
        they are shown.
    unique: which enqueued work may exist once at a time.
    """

    name: str
    isolation: Isolation
    memory: int | str
    redact: Sequence[str]
    unique: UniqueOption


class PolicyOptions(TypedDict, total=False):
    """The policies that only a schedule has; docs/concepts/schedules.md explains each.

    limit: the number of first starts after which the schedule has ended; or the limits over the
        fleet of its executions, instead of those of the job.
    """

    enabled: bool
    catch_up: bool
    catch_up_within: Duration | None
    catch_up_max: int | None
    tolerance: Duration
    deadline: Duration | None
    overlap: Overlap
    jitter: Duration
    until: datetime | str | None
    limit: int | LimitOption | None
    retention: Duration | None
    keep: int
    owner: str | None
    note: str


class JobOptions(WorkOptions, FunctionOptions, total=False):
    """What `app.job` takes.

    limit: how many executions of the job run at once or start in a time, over the whole fleet.
    """

    limit: LimitOption


class ScheduleOptions(WorkOptions, PolicyOptions, total=False):
    """What `app.create_schedules` takes besides names, grids and calls."""


class EditOptions(ScheduleOptions, total=False):
    """What `schedule.edit` takes: the fields to change; all other fields stay.

    cron, every: another rule; the zone, gap and fold stay unless they are given too.
    anchor: the first instant of an interval.
    args: the arguments of the job, all of them; checked against the signature of the job.
    why: the reason, for the log of actions.
    """

    cron: str
    every: Duration
    anchor: datetime | str
    timezone: str
    gap: str
    fold: str
    args: Mapping[str, Json]
    why: str


class DeclarationOptions(ScheduleOptions, total=False):
    """What `app.add` takes besides a name, a grid and a call.

    adopt: whether the schedule is taken over if another owner has its name; by default as
        `Sempre(adopt=)`.
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

    spread: the length of time over which the starts of found runs are spread.
    batch: how many runs are read and enqueued at a time; by default 1000.
    shards: the number of schedules among which the query is divided; the query then takes `shard`,
        a number from 0 on, and perhaps `shards`.
    done: called with the arguments of the job before each of its runs; if it returns true, the work
        is no longer needed and the run is skipped.
    contract: a second query, for everything unfinished for longer than `slo`; what the contract
        finds and the first query does not is reported as uncovered.
    slo: passed to the contract as a timedelta, if it takes `slo`.
    database: where SQL text runs: a SQLAlchemy engine, or a function that returns a new connection;
        by default the database of the store.
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


class EnqueueOptions(TypedDict, total=False):
    """How calls are enqueued, for `job.options(...)` and `app.enqueue_many(...)`.

    delay: how long the start waits, counted from `at` or from now.
    at: the instant from which the call may start.
    queue, priority: override those of the job.
    unique: overrides that of the job; False for none.
    tx: a transaction of the caller, with which the execution commits or rolls back.
    """

    delay: Duration | None
    at: datetime | str | None
    queue: str | None
    priority: int | None
    unique: UniqueOption | None
    tx: object


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
    action_retention: Duration
    timeout: Duration
    drain: Duration
    result_limit: int
    log_level: str
    log_size: int
    redact: Sequence[str]
    release: int
    owner: str | None
    adopt: bool
    timezone: str | None
    metrics: str
    traces: bool | Callable[[], object] | None
