"""The application object: declares jobs and schedules, operates them, starts workers."""

import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import datetime
from getpass import getuser
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from sempre.app.creating import Declared
from sempre.app.declaring import Declarations, Synced, task_of
from sempre.app.hooks import Hooks
from sempre.app.jobs import AsyncJob, Call, Job, check_unique, is_async
from sempre.app.middleware import Middleware
from sempre.app.options import (
    Duration,
    GridOptions,
    JobOptions,
    PolicyOptions,
    ScheduleOptions,
    SettingOptions,
    WorkOptions,
)
from sempre.app.running import Running, start_processes
from sempre.app.schedules import ScheduleHandle, Schedules
from sempre.app.sending import Sends
from sempre.app.switches import SwitchHandle, declared_tags, target_of
from sempre.app.travelling import TimeTraveller
from sempre.clock import Clock, SystemClock
from sempre.config import read_settings
from sempre.domain.definition import Definition, define, read_fields
from sempre.domain.values import changed
from sempre.domain.work import read_policy
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.watchdog import Watchdog
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.zones import tzdata_version
from sempre.ports.broker import Broker
from sempre.ports.executor import Task
from sempre.ports.store import Store
from sempre.telemetry.logs import Narrator, configure_logs
from sempre.urls import open_broker, open_store

__all__ = ["Decorator", "Sempre"]

P = ParamSpec("P")
R = TypeVar("R")
JOB_OPTIONS = frozenset(JobOptions.__annotations__)
SCHEDULE_OPTIONS = frozenset({*WorkOptions.__annotations__, *PolicyOptions.__annotations__})
GRID_OPTIONS = ("timezone", "gap", "fold")


class Decorator(Protocol):
    """Turns a function into a job that keeps its signature."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Job[P, R]: ...


class Sempre(Sends, Hooks, TimeTraveller):
    """Recurring jobs that cannot be lost.

    >>> app = Sempre("memory://")
    >>> @app.every("15m", jitter="30s")
    ... def refresh_cache() -> None: ...
    >>> refresh_cache.name
    'refresh_cache'

    Args:
        store: the URL of the authority, or a store; by default $SEMPRE_STORE, else a SQLite file
            `sempre.db` in the working directory.
        broker: the URL of the bell, or a broker; by default the store itself.
        clock: for tests.
        settings: see `SettingOptions`.

    Nothing is connected before it is needed.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        broker: str | Broker | None = None,
        clock: Clock | None = None,
        **settings: Unpack[SettingOptions],
    ) -> None:
        """Read the settings; see the class."""
        given: dict[str, object] = dict(settings)
        given["store"] = store if isinstance(store, str) else None
        given["broker"] = broker if isinstance(broker, str) else None
        self.settings = read_settings(given)
        self.events = Events()
        self.middleware = Middleware()
        self.declarations = Declarations()
        self.clock = clock or SystemClock()
        self._given_store = None if isinstance(store, str) else store
        self._given_broker = None if isinstance(broker, str) else broker
        self._engine: tuple[int, Engine] | None = None
        self._narrated = False

    # Declaring

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
        **options: Unpack[ScheduleOptions],
    ) -> None:
        """Declare a schedule of a job with its arguments, or of a function without any."""
        bound = self._bound(name, call)
        self.declarations.add_schedule(self._declared(name, grid, bound, options))

    # Operating

    @property
    def engine(self) -> Engine:
        """The engine of this process, made and set up when it is first needed."""
        if self._engine is None or self._engine[0] != os.getpid():
            self._engine = os.getpid(), self._compose()
        return self._engine[1]

    @property
    def schedules(self) -> Schedules:
        """All schedules of the store."""
        return Schedules(self.engine, actor=_actor())

    @property
    def watchdog(self) -> Watchdog:
        """The watchdog: its message on the broker and its pass."""
        return Watchdog(self.engine)

    @property
    def tasks(self) -> dict[str, Task]:
        """The registered jobs by name, with the middleware around them."""
        declared = self.declarations
        return {
            name: self.middleware.wrapped(task, declared.done.get(name))
            for name, task in declared.tasks.items()
        }

    def schedule(self, name: str) -> ScheduleHandle:
        """Return one schedule of the store, to be looked at or operated."""
        return ScheduleHandle(self.engine, name, actor=_actor())

    def switch(self, named: str | Job[..., Any]) -> SwitchHandle:
        """Return a switch: `app.switch("provisioning").off("incident 42", until="2h")`.

        Args:
            named: a job, the name of a declared job or tag, or `job:NAME`, `queue:NAME`,
                `tag:NAME`, `pair:JOB` or `all`.

        Raises:
            NamingError: nothing that is declared is called so.
        """
        name = f"job:{named.name}" if isinstance(named, Job) else named
        tags = declared_tags(self.declarations)
        target = target_of(name, jobs=self.declarations.tasks, tags=tags)
        return SwitchHandle(lambda: self.engine, target, actor=_actor())

    def create_schedules(
        self,
        wanted: Iterable[tuple[str, Grid, Call[Any] | Job[..., Any]]],
        **options: Unpack[ScheduleOptions],
    ) -> list[bool]:
        """Create schedules at run time, in bulk, each with its first execution.

        Returns:
            For each whether it was created: False where the name is taken.
        """
        return self.schedules.create_many(self._declared_alike(wanted, options))

    def sync(self) -> Synced:
        """Bring the store to what this code declares; workers do it when they start."""
        return self.declarations.sync(self.engine)

    def narrate(self) -> None:
        """Log what happens under the logger `sempre`; workers do it when they start."""
        if not self._narrated:
            self._narrated = True
            self.events.listen(Narrator(self.clock))

    # Running

    def running(
        self,
        *,
        queues: Iterable[str] = ("default",),
        concurrency: int = 8,
        sync: bool = True,
        burst: bool = False,
    ) -> Running:
        """Return a worker inside this process, as a context: `with app.running(): ...`.

        It installs no signal handlers and never ends its host. Any number of processes may do so
        at once on a shared store: each slot is run by one of them. A burst runs only what is due;
        `wait_until_exhausted` waits for that.
        """
        return Running(self, queues=queues, concurrency=concurrency, sync=sync, burst=burst)

    def start(
        self,
        *,
        join: bool = True,
        queues: Iterable[str] = ("default",),
        concurrency: int = 8,
        processes: int = 1,
    ) -> Running | None:
        """Start workers and wait until they are asked to stop; or return a handle at once.

        With `join` the workers run in child processes that are started again if they crash. A
        memory store cannot be shared with children: then the worker runs in this process. What
        happens is logged; to stderr, if the program has not set logging up.
        """
        if not logging.getLogger().handlers:
            configure_logs("text")
        if not join:
            return self.running(queues=queues, concurrency=concurrency).begin()
        start_processes(self, queues=queues, concurrency=concurrency, processes=processes)
        return None

    def close(self) -> None:
        """Give back every connection of this process."""
        if self._engine and self._engine[0] == os.getpid():
            self._engine[1].bell.broker.close()
            self._engine[1].store.close()
        self._engine = None

    @property
    def can_fork(self) -> bool:
        """Whether child processes can open the same store: not if it lives in this one."""
        by_url = self._given_store is None and self._given_broker is None
        return by_url and open_store(self.settings.store).capabilities.shared

    # How

    def _job(self, function: Callable[..., Any], options: Mapping[str, object]) -> Job[..., Any]:
        if isinstance(function, Job):
            return function
        asynchronous = is_async(function)
        chosen = str(options.get("name", function.__name__))
        task = task_of(function, name=chosen, is_async=asynchronous, options=options)
        job: Job[..., Any] = (AsyncJob if asynchronous else Job)(task, self)
        policy = read_policy(options)
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
        defaults = {"tolerance": self.settings.tolerance, "owner": self.settings.owner}
        definition: Definition = define(
            job=call.job.name, grid=grid, args=call.args, **{**defaults, **policies}
        )
        return Declared(name, definition)

    def _declared_alike(
        self,
        wanted: Iterable[tuple[str, Grid, Call[Any] | Job[..., Any]]],
        policies: Mapping[str, Any],
    ) -> Iterator[Declared]:
        """Yield what is declared of schedules that share their policies, which are read once."""
        common: Definition | None = None
        for name, grid, call in wanted:
            bound = self._bound(name, call)
            if common is None:
                common = self._declared(name, grid, bound, policies).definition
            own = {"job": bound.job.name, "grid": grid, "args": bound.args}
            yield Declared(name, changed(common, **read_fields(own)))

    def _compose(self) -> Engine:
        store = self._given_store or open_store(self.settings.store)
        store.upgrade()
        url = "" if self._given_store else self.settings.store
        broker = self._given_broker or open_broker(self.settings.broker, store_url=url)
        bell = Bell(
            store, broker, horizon=self.settings.horizon, clock=self.clock, events=self.events
        )
        return Engine(store, bell, self.settings, self.clock, self.events, tzdata_version())


def _grid_options(options: GridOptions) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key in GRID_OPTIONS}


def _actor() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        return ""
