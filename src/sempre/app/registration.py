"""Registering jobs and schedules: what code declares, as decorators and calls take it."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from sempre.app.clocks import placed, with_instants
from sempre.app.creating import Declared
from sempre.app.declaring import Declarations, task_of
from sempre.app.jobs import AsyncJob, Call, Job, Sender, check_unique, is_async
from sempre.app.options import (
    DeclarationOptions,
    Duration,
    FunctionOptions,
    GridOptions,
    JobOptions,
    PolicyOptions,
    WorkOptions,
)
from sempre.app.overlap import check_overlap
from sempre.config import Settings
from sempre.domain.definition import Definition, define, read_fields
from sempre.domain.values import changed
from sempre.domain.work import WorkPolicy, read_policy
from sempre.errors import PolicyError
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid

__all__ = ["Decorator", "Registration"]

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


class Registration:
    """The side of an application that registers jobs and declares schedules."""

    settings: Settings
    declarations: Declarations

    @overload
    def job(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncJob[P, R]: ...
    @overload
    def job(self, function: Callable[P, R], /) -> Job[P, R]: ...
    @overload
    def job(self, **options: Unpack[JobOptions]) -> Decorator: ...
    def job(  # type: ignore[misc]  # mypy does not see that **options takes every option
        self, function: Callable[..., Any] | None = None, /, **options: object
    ) -> object:
        """Register a function under a name, by default its own."""
        if function is not None:
            return self._job(function, options)
        return lambda given: self._job(given, options)

    def every(
        self,
        interval: Duration | int,
        unit: str | None = None,
        *,
        anchor: datetime | str | None = None,
        **options: Unpack[GridOptions],
    ) -> Decorator:
        """Register a function and run it at anchor + N * interval."""
        grid = Every(interval, unit, anchor=anchor, **_grid_options(options))
        return self._scheduled(grid, options)

    def cron(self, text: str, **options: Unpack[GridOptions]) -> Decorator:
        """Register a function and run it on a cron grid."""
        return self._scheduled(Cron(text, **_grid_options(options)), options)

    def add(
        self,
        name: str,
        grid: Grid,
        call: Call[Any] | Job[..., Any] | Callable[[], Any],
        **options: Unpack[DeclarationOptions],
    ) -> None:
        """Declare a schedule of a job with its arguments, or of a function without any."""
        bound = self._bound(name, call)
        self.declarations.add_schedule(self._declared(name, grid, bound, options))

    def _job(self, function: Callable[..., Any], options: Mapping[str, object]) -> Job[..., Any]:
        if isinstance(function, Job):
            return function
        chosen = str(options.get("name", function.__name__))
        task = task_of(function, name=chosen, options=options, settings=self.settings)
        kind = AsyncJob if is_async(function) else Job
        job: Job[..., Any] = kind(task, cast("Sender", self))
        policy = read_policy({**options, "redact": task.redact})
        check_unique(job, policy.unique)
        self.declarations.add_task(task, policy)
        return job

    def _scheduled(self, grid: Grid, options: GridOptions) -> Decorator:
        own = {key: value for key, value in options.items() if key in JOB_OPTIONS}
        others = {*JOB_OPTIONS, *GRID_OPTIONS} - SCHEDULE_OPTIONS
        policies = {key: value for key, value in options.items() if key not in others}

        def decorate(function: Callable[..., Any]) -> Job[..., Any]:
            job = self._job(function, own)
            name = str(own.get("name", job.name))
            if job is function:
                _refuse_function_options(name, job, own)
            self.declarations.add_schedule(self._declared(name, grid, job.bind(), policies))
            return job

        return cast("Decorator", decorate)

    def _bound(self, name: str, call: Call[Any] | Job[..., Any] | Callable[[], Any]) -> Call[Any]:
        if isinstance(call, Call):
            return call
        job = call if isinstance(call, Job) else self._job(call, {"name": name})
        return job.bind()

    def _declared(
        self, name: str, grid: Grid, call: Call[Any], policies: Mapping[str, Any]
    ) -> Declared:
        """Return a schedule with the options of its job, unless it has its own; tags add up.

        A switch on a tag of the job stops its scheduled runs, whatever tags they have besides.
        """
        job = self.declarations.policies.get(call.job.name, WorkPolicy())
        usual = {"tolerance": self.settings.tolerance, "owner": self.settings.owner}
        chosen = with_instants({**job.inherited, **usual, **policies}, self.settings)
        adopt = _read_adopt(chosen.pop("adopt", self.settings.adopt))
        rule = placed(grid, self.settings)
        definition = define(job=call.job.name, grid=rule, args=call.args, **chosen)
        tags = tuple(sorted({*job.tags, *definition.tags}))
        check_overlap(name, definition, self.declarations.tasks.get(call.job.name))
        return Declared(name, changed(definition, tags=tags), adopt=adopt)

    def declared_alike(
        self,
        wanted: Iterable[tuple[str, Grid, Call[Any] | Job[..., Any]]],
        policies: Mapping[str, Any],
    ) -> Iterator[Declared]:
        """Yield what is declared of schedules that share their policies, read once for each job."""
        if "adopt" in policies:
            allowed = "it where code declares a schedule: app.add, @app.every or @app.cron"
            raise PolicyError("adopt", policies["adopt"], allowed=allowed)
        common: dict[str, Definition] = {}
        for name, grid, call in wanted:
            bound = self._bound(name, call)
            job = bound.job.name
            if job not in common:
                common[job] = self._declared(name, grid, bound, policies).definition
            own = {"grid": placed(grid, self.settings), "args": bound.args}
            yield Declared(name, changed(common[job], **read_fields(own)))


def _grid_options(options: GridOptions) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key in GRID_OPTIONS}


def _read_adopt(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise PolicyError("adopt", value, allowed="True or False")


def _refuse_function_options(
    schedule: str, job: Job[..., Any], options: Mapping[str, object]
) -> None:
    """Refuse options of a function that is a job already: its schedules run it as the job does."""
    for option in sorted(FUNCTION_OPTIONS & options.keys()):
        allowed = f"it where the job {job.name} is registered: @app.job({option}=...)"
        place = f"{option} of the schedule {schedule}"
        raise PolicyError(place, options[option], allowed=allowed)
