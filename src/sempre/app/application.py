"""The application object: declares jobs and schedules, operates them, starts workers."""

import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, cast, overload

from sempre.alerts.channel import Channel
from sempre.app.alerts.book import AlertBook, AlertOptions
from sempre.app.composition import Composition
from sempre.app.declarations import Declarations
from sempre.app.enqueue.enqueuer import Enqueuer
from sempre.app.enqueue.receipt import Receipt
from sempre.app.event_listeners import add_listener
from sempre.app.jobs import AsyncJob, Call, Job
from sempre.app.measured import Measured
from sempre.app.middleware import AroundEnqueue, AroundPerform, Gate, Middleware
from sempre.app.operator import Operator
from sempre.app.options import (
    DeclarationOptions,
    Duration,
    EnqueueOptions,
    GridOptions,
    JobOptions,
    ScheduleOptions,
    SettingOptions,
)
from sempre.app.process.embedded_worker import Embedded
from sempre.app.process.worker_processes import start_processes
from sempre.app.process.worker_threads import Running
from sempre.app.registry import Decorator, Registry
from sempre.app.schedules.deploy import Synced
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.app.transactions.transaction_block import transaction
from sempre.clock import Clock, SystemClock
from sempre.config import Settings, read_settings
from sempre.engine.events import Events, Happened, Listener
from sempre.errors.wording import counted
from sempre.grids.grid import Grid
from sempre.ports.broker import Broker
from sempre.ports.executor import Task
from sempre.ports.store import Store
from sempre.telemetry.logs import Narrator, configure_logs
from sempre.telemetry.traces import Traces

if TYPE_CHECKING:
    from sempre.testing.travel import TimeTravel

__all__ = ["Sempre"]

P = ParamSpec("P")
R = TypeVar("R")
_PLACES = ("store", "broker")


class Sempre(Operator, Measured):
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
        traces = settings.get("traces")
        set_up = traces if callable(traces) else None
        given["traces"] = True if callable(traces) else traces
        self.settings = read_settings(given)
        used = clock or SystemClock()
        self.tracer = Traces(wanted=self.settings.traces, clock=used, set_up=set_up)
        self.events = Events(clock)
        self.middleware = Middleware()
        composition = Composition(
            self.settings,
            store=None if isinstance(store, str) else store,
            broker=None if isinstance(broker, str) else broker,
            clock=used,
            events=self.events,
            tracer=self.tracer,
        )
        super().__init__(composition, Declarations())
        self._registry = Registry(self)
        self.alerts = AlertBook(self, self._registry)
        self._narrated = False

    def __repr__(self) -> str:
        """Show store, broker and the number of declarations; never a password."""
        jobs, schedules = len(self.declarations.tasks), len(self.declarations.schedules)
        declared = f"{counted(jobs, 'job')}, {counted(schedules, 'schedule')}"
        return f"<Sempre {self.composition.place}: {declared}>"

    @classmethod
    def with_settings(cls, settings: Settings) -> "Sempre":
        """Return an application that declares nothing, with the settings of another one."""
        options = {key: each for key, each in vars(settings).items() if key not in _PLACES}
        given = cast("SettingOptions", options)
        return cls(settings.store, broker=settings.broker or None, **given)

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
            return self._registry.add_job(function, options)
        return lambda given: self._registry.add_job(given, options)

    def every(
        self,
        interval: Duration | int,
        unit: str | None = None,
        *,
        anchor: datetime | str | None = None,
        **options: Unpack[GridOptions],
    ) -> Decorator:
        """Register a function and run it at anchor + N * interval."""
        return self._registry.every(interval, unit, anchor, options)

    def cron(self, text: str, **options: Unpack[GridOptions]) -> Decorator:
        """Register a function and run it on a cron grid."""
        return self._registry.cron(text, options)

    def add(
        self,
        name: str,
        grid: Grid,
        call: Call[Any] | Job[..., Any] | Callable[[], Any],
        **options: Unpack[DeclarationOptions],
    ) -> None:
        """Declare a schedule of a job with its arguments, or of a function without any."""
        self._registry.add_schedule(name, grid, call, options)

    @overload
    def on(self, listener: Listener, /) -> Listener: ...
    @overload
    def on(self, *names: Happened) -> Callable[[Listener], Listener]: ...
    def on(self, *names: Happened | Listener) -> Listener | Callable[[Listener], Listener]:
        """Call a function when one of the named events happens; at every event without a name.

            @app.on(Happened.FAILED)
            def alert(event: Event) -> None: ...

        An error of the function is logged; the function is called again at the next event.

        Raises:
            InvalidInput: there is no event of that name.
        """
        return add_listener(self.events, names)

    def alert(self, channel: Channel, **options: Unpack[AlertOptions]) -> None:
        """Report failures, overdue work and recoveries to a channel: `app.alert(Webhook("https://..."))`.

        Workers derive alerts from the rows of the store, so that none is lost with a process; see
        `AlertOptions` and docs/how-to/alerts.md.

        Raises:
            InvalidInput: an option cannot be read, or another channel has the name.
        """
        self.alerts.add(channel, options)

    def around_enqueue(self, function: AroundEnqueue) -> AroundEnqueue:
        """Put a generator function around every batch of enqueues; see `sempre.app.middleware`."""
        return self.middleware.around_enqueue(function)

    def around_perform(self, function: AroundPerform) -> AroundPerform:
        """Put a generator function around every run; see `sempre.app.middleware`."""
        return self.middleware.around_perform(function)

    def gate(self, function: Gate) -> Gate:
        """Ask a function before every enqueue and run, such as that of a feature-flag service.

        It gets a job's name and arguments, and returns a reason to refuse the work, or None. That
        work is rejected, or its run is skipped; but a run that a person has triggered goes on.
        """
        return self.middleware.add_gate(function)

    @property
    def tasks(self) -> dict[str, Task]:
        """The registered jobs by name, with the middleware around them."""
        return self.middleware.wrap_all(self.declarations.tasks, self.declarations.done)

    @property
    def queues(self) -> frozenset[str]:
        """The queues that the code declares, `default` among them: those that a worker serves."""
        return self.declarations.queues

    # Enqueuing

    def enqueue_many(
        self,
        calls: Iterable[Call[Any] | Job[..., Any]],
        *,
        spread: Duration | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> list[Receipt[Any]]:
        """Enqueue many calls, a thousand in one round trip, as an iterator yields them.

        Args:
            calls: jobs with their arguments: `job.bind(...)`.
            spread: the length of time over which their starts are spread, evenly.
            options: as for `job.options(...)`.

        Returns:
            A receipt for each, in order. If the store fails, the thousands before stay enqueued,
            unless they joined a transaction of the caller.
        """
        batches = Enqueuer(self, options, spread=spread).enqueue_many(calls)
        return [receipt for batch in batches for receipt in batch]

    def transaction(self, connection: object) -> AbstractContextManager[None]:
        """Return a block that commits at its end, or rolls back if it raises, and then rings.

        Work enqueued in the block commits with the caller's rows. See `sempre.app.transactions`.
        """
        return transaction(self, connection)

    def queue_name(self, queue: str = "default") -> str:
        """Return the name that a queue of this store has on its broker; on Beanstalkd, its tube."""
        return self.engine.bell.lane(queue)

    # Operating

    def create_schedules(
        self,
        wanted: Iterable[tuple[str, Grid, Call[Any] | Job[..., Any]]],
        **options: Unpack[ScheduleOptions],
    ) -> list[bool]:
        """Create schedules in bulk, each with its first execution; False where a name is taken."""
        return self.schedules.create_many(self._registry.declared_alike(wanted, options))

    def put_schedule(
        self,
        name: str,
        grid: Grid,
        call: Call[Any] | Job[..., Any],
        **options: Unpack[ScheduleOptions],
    ) -> StoredSchedule:
        """Create a schedule, or change the one of that name to this definition; return it.

        Raises:
            Refused: the schedule of that name belongs to another owner.
        """
        [wanted] = self._registry.declared_alike([(name, grid, call)], options)
        return self.schedules.put(wanted)

    def sync(self) -> Synced:
        """Bring the store to what this code declares; workers do it when they start.

        Schedules that a deploy disables, enables again or finds orphaned are logged.
        """
        self.narrate()
        return self.declarations.sync(self.engine)

    def narrate(self) -> None:
        """Log events under the logger `sempre`; workers do it when they start."""
        if not self._narrated:
            self._narrated = True
            self.events.listen(Narrator(self.clock))

    # Running

    def running(
        self,
        *,
        queues: Iterable[str] | None = None,
        concurrency: int = 8,
        sync: bool = True,
        burst: bool = False,
        metrics: str | None = None,
    ) -> Running:
        """Return a worker inside this process, as a context: `with app.running(): ...`.

        The worker installs no signal handlers and never ends its host: if the store is down, the
        worker begins once the store answers. Any number of processes may run one on a shared store:
        one of them runs each slot. It serves `queues`, by default every queue that the code
        declares by now. A burst runs only what is due; `wait_until_exhausted` waits for its end.
        The metrics of this process are served on the address `metrics`, if one is given.
        """
        worker = Embedded(self, queues=queues, concurrency=concurrency, sync=sync, burst=burst)
        return worker.serving_metrics_on(metrics)

    def start(
        self,
        *,
        join: bool = True,
        queues: Iterable[str] | None = None,
        concurrency: int = 8,
        processes: int = 1,
        metrics: str | None = None,
    ) -> Running | None:
        """Start workers and wait until they are asked to stop; or return the worker at once.

        With `join` the workers run in child processes that are started again if they crash; with a
        memory store, which children cannot share, the worker runs in this process. They serve
        `queues`, by default every declared queue. Logs go to stderr, unless logging is set up.
        Metrics are served on the address `metrics`; with `join`, by default that of the settings.
        """
        if not logging.getLogger().handlers:
            configure_logs("text")
        if not join:
            return self.running(queues=queues, concurrency=concurrency, metrics=metrics).begin()
        start_processes(
            self, queues=queues, concurrency=concurrency, processes=processes, metrics=metrics
        )
        return None

    def testing(self, start: datetime | str, *, call_jobs: bool = True) -> "TimeTravel":
        """Return this application on virtual time: `with app.testing("2026-03-29 00:00Z") as t:`.

        Args:
            start: the first instant; without a zone, in the time zone of the application.
            call_jobs: whether jobs are called; if not, each run succeeds without a call.
        """
        from sempre.testing.travel import TimeTravel  # noqa: PLC0415 - only tests need it

        return TimeTravel(self, start, call_jobs=call_jobs)

    def close(self) -> None:
        """Close every connection of this process."""
        self.composition.close()
