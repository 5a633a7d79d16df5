"""Registry: turns the user's functions, grids and queries into jobs, schedules and pairs."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from sempre.app.enqueue.enqueuer import Enqueuer
from sempre.app.jobs import AsyncJob, Call, Job, check_limits, check_unique, is_async
from sempre.app.options import (
    Duration,
    FunctionOptions,
    GridOptions,
    JobOptions,
    PolicyOptions,
    WorkOptions,
)
from sempre.app.pairs.pair import PAIR_OPTIONS, Query, read_pair
from sempre.app.pairs.scanner import Scanner
from sempre.app.schedules.creation import Declared
from sempre.app.schedules.declaring import Declaration, declared_schedule
from sempre.app.schedules.overlap import check_overlap
from sempre.app.schedules.time_zone import placed
from sempre.app.tasks import read_task
from sempre.domain.definition import Definition, has_limits, read_fields
from sempre.domain.job_policy import JobPolicy, read_policy
from sempre.domain.pair import pair_name
from sempre.domain.unique import Unique
from sempre.domain.values import copy_with
from sempre.errors import PolicyError
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["Decorator", "Registry"]

P = ParamSpec("P")
R = TypeVar("R")
JOB_OPTIONS = frozenset(JobOptions.__annotations__)
SCHEDULE_OPTIONS = frozenset({*WorkOptions.__annotations__, *PolicyOptions.__annotations__})
FUNCTION_OPTIONS = frozenset(FunctionOptions.__annotations__) - {"name"}
GRID_OPTIONS = ("timezone", "gap", "fold")


class Decorator(Protocol):
    """Turns a function into a job that keeps its signature."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Job[P, R]: ...


class Registry:
    """Registers what the code of one application declares."""

    def __init__(self, app: "Sempre") -> None:
        """Add to the declarations of an application."""
        self._app = app
        self._declarations = app.declarations

    def add_job(self, function: Callable[..., Any], options: Mapping[str, object]) -> Job[..., Any]:
        """Register a function under a name, by default its own; a job is returned as it is."""
        if isinstance(function, Job):
            return function
        name = str(options.get("name", function.__name__))
        task = read_task(function, name=name, options=options, settings=self._app.settings)
        kind = AsyncJob if is_async(function) else Job
        job: Job[..., Any] = kind(task, self, Enqueuer(self._app))
        policy = read_policy({**options, "redact": task.redact})
        check_unique(job, policy.unique)
        check_limits(job, policy.limits)
        self._declarations.add_task(task, policy)
        return job

    def every(
        self,
        interval: Duration | int,
        unit: str | None,
        anchor: datetime | str | None,
        options: GridOptions,
    ) -> Decorator:
        """Return a decorator that registers a function and runs it by an interval."""
        grid = Every(interval, unit, anchor=anchor, **_grid_options(options))
        return self._schedule(grid, options)

    def cron(self, text: str, options: GridOptions) -> Decorator:
        """Return a decorator that registers a function and runs it on a cron grid."""
        return self._schedule(Cron(text, **_grid_options(options)), options)

    def _schedule(self, grid: Grid, options: GridOptions) -> Decorator:
        own = {key: value for key, value in options.items() if key in JOB_OPTIONS}
        if "limit" in own and not has_limits(own["limit"]):
            # A number of first starts is of the schedule alone.
            del own["limit"]
        others = {*JOB_OPTIONS, *GRID_OPTIONS} - SCHEDULE_OPTIONS
        policies = {key: value for key, value in options.items() if key not in others}

        def decorate(function: Callable[..., Any]) -> Job[..., Any]:
            job = self.add_job(function, own)
            name = str(own.get("name", job.name))
            if job is function:
                _refuse_function_options(name, job, own)
            self._declarations.add_schedule(self._declared(name, grid, job.bind(), policies))
            return job

        return cast("Decorator", decorate)

    def add_schedule(
        self,
        name: str,
        grid: Grid,
        call: Call[Any] | Job[..., Any] | Callable[[], Any],
        options: Mapping[str, Any],
    ) -> None:
        """Declare a schedule of a job with its arguments, or of a function without any."""
        declared = self._declared(name, grid, self._bound(name, call), options)
        self._declarations.add_schedule(declared)

    def add_pair(self, job: Job[..., Any], query: Query, options: Mapping[str, Any]) -> None:
        """Declare the pair of a job: a job that runs the query, and a schedule for each shard.

        The job becomes unique by all its arguments, if it is not unique yet: each run of the query
        finds again what waits already.
        """
        own = {name: value for name, value in options.items() if name in PAIR_OPTIONS}
        rest = {name: value for name, value in options.items() if name not in PAIR_OPTIONS}
        pair, declared = read_pair(job, query, own), self._declarations
        policy = declared.policies[job.name]
        if policy.unique is None:
            declared.policies[job.name] = replace(policy, unique=Unique())
        if options.get("done") is not None:
            declared.done[job.name] = options["done"]
        scan = self.add_job(Scanner(self._app, pair).run, {"name": pair_name(job.name)})
        for shard, name in enumerate(pair.names):
            self.add_schedule(name, pair.grid, scan.bind(shard) if shard else scan, rest)

    def declared_alike(
        self,
        wanted: Iterable[tuple[str, Grid, Call[Any] | Job[..., Any]]],
        policies: Mapping[str, Any],
    ) -> Iterator[Declared]:
        """Yield schedules that share their policies, which are read once for each job."""
        if "adopt" in policies:
            allowed = "it where code declares a schedule: app.add, @app.every or @app.cron"
            raise PolicyError("adopt", policies["adopt"], allowed=allowed)
        shared: dict[str, Definition] = {}
        for name, grid, call in wanted:
            bound = self._bound(name, call)
            job = bound.job.name
            if job not in shared:
                shared[job] = self._declared(name, grid, bound, policies).definition
            own = read_fields({"grid": placed(grid, self._app.settings), "args": bound.args})
            yield Declared(name, copy_with(shared[job], grid=own["grid"], args=own["args"]))

    def _bound(self, name: str, call: Call[Any] | Job[..., Any] | Callable[[], Any]) -> Call[Any]:
        if isinstance(call, Call):
            return call
        job = call if isinstance(call, Job) else self.add_job(call, {"name": name})
        return job.bind()

    def _declared(
        self, name: str, grid: Grid, call: Call[Any], policies: Mapping[str, Any]
    ) -> Declared:
        """Return a schedule with the options of its job, unless it has its own."""
        job = call.job.name
        declared = declared_schedule(
            Declaration(name, job, grid, call.args, policies),
            self._declarations.policies.get(job, JobPolicy()),
            self._app.settings,
        )
        check_limits(call.job, declared.definition.limits)
        check_overlap(name, declared.definition, self._declarations.tasks.get(job))
        return declared


def _grid_options(options: GridOptions) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key in GRID_OPTIONS}


def _refuse_function_options(
    schedule: str, job: Job[..., Any], options: Mapping[str, object]
) -> None:
    """Refuse options of a function that is a job already: its schedules run it as the job does."""
    for option in sorted(FUNCTION_OPTIONS & options.keys()):
        allowed = f"it where the job {job.name} is registered: @app.job({option}=...)"
        place = f"{option} of the schedule {schedule}"
        raise PolicyError(place, options[option], allowed=allowed)
