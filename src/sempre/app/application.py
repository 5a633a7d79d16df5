"""The application object: declares jobs and schedules, operates them, starts workers."""

import logging
import os
from collections.abc import Iterable
from getpass import getuser
from typing import Any, Unpack, cast

from sempre.app.declaring import Declarations
from sempre.app.deploying import Synced
from sempre.app.embedding import Embedded
from sempre.app.hooks import Hooks
from sempre.app.jobs import Call, Job
from sempre.app.middleware import Middleware
from sempre.app.options import (
    ScheduleOptions,
    SettingOptions,
)
from sempre.app.registration import Registration
from sempre.app.running import Running
from sempre.app.schedules import ScheduleHandle, Schedules
from sempre.app.sending import Sends
from sempre.app.switches import SwitchHandle, declared_tags, target_of
from sempre.app.travelling import TimeTraveller
from sempre.app.worker_processes import start_processes
from sempre.clock import Clock, SystemClock
from sempre.config import Settings, read_settings
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.watchdog import Watchdog
from sempre.errors.wording import counted
from sempre.grids.grid import Grid
from sempre.grids.zones import tzdata_version
from sempre.ports.broker import Broker
from sempre.ports.executor import Task
from sempre.ports.store import Store
from sempre.telemetry.logs import Narrator, configure_logs
from sempre.urls import masked, open_broker, open_store

__all__ = ["Sempre"]

PLACES = ("store", "broker")


class Sempre(Registration, Sends, Hooks, TimeTraveller):
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
        self.events = Events(clock)
        self.middleware = Middleware()
        self.declarations = Declarations()
        self.clock = clock or SystemClock()
        self._given_store = None if isinstance(store, str) else store
        self._given_broker = None if isinstance(broker, str) else broker
        self._engine: tuple[int, Engine] | None = None
        self._narrated = False

    def __repr__(self) -> str:
        """Show store, broker and how much is declared; never a password."""
        given, settings = self._given_store, self.settings
        store = type(given).__name__ if given is not None else masked(settings.store)
        bell = self._given_broker
        broker = type(bell).__name__ if bell is not None else masked(settings.broker)
        jobs, schedules = len(self.declarations.tasks), len(self.declarations.schedules)
        place = f"{store}, broker {broker}" if broker else store
        return f"<Sempre {place}: {counted(jobs, 'job')}, {counted(schedules, 'schedule')}>"

    @classmethod
    def with_settings(cls, settings: Settings) -> "Sempre":
        """Return an application that declares nothing, with the settings of another one."""
        others = {name: value for name, value in vars(settings).items() if name not in PLACES}
        options = cast("SettingOptions", others)
        return cls(settings.store, broker=settings.broker or None, **options)

    @property
    def has_url(self) -> bool:
        """Whether the store was named by a URL, so that other processes can open it."""
        return self._given_store is None

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
        return Schedules(self.engine, actor=_actor(), tasks=self.declarations.tasks)

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

    @property
    def queues(self) -> frozenset[str]:
        """The queues that the code declares, `default` among them: what a worker serves."""
        return self.declarations.queues

    def schedule(self, name: str) -> ScheduleHandle:
        """Return one schedule of the store, to be looked at or operated."""
        return self.schedules[name]

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
        return self.schedules.create_many(self.declared_alike(wanted, options))

    def sync(self) -> Synced:
        """Bring the store to what this code declares; workers do it when they start.

        What a deploy disables, enables again or finds orphaned is logged.
        """
        self.narrate()
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
        queues: Iterable[str] | None = None,
        concurrency: int = 8,
        sync: bool = True,
        burst: bool = False,
    ) -> Running:
        """Return a worker inside this process, as a context: `with app.running(): ...`.

        It installs no signal handlers and never ends its host: if the store is down, the context is
        entered all the same, and the worker begins once the store answers. Any number of processes
        may do so at once on a shared store: each slot is run by one of them. It serves every queue
        that the code declares by now, unless `queues` names others. A burst runs only what is due;
        `wait_until_exhausted` waits for that.
        """
        return Embedded(self, queues=queues, concurrency=concurrency, sync=sync, burst=burst)

    def start(
        self,
        *,
        join: bool = True,
        queues: Iterable[str] | None = None,
        concurrency: int = 8,
        processes: int = 1,
    ) -> Running | None:
        """Start workers and wait until they are asked to stop; or return a handle at once.

        With `join` the workers run in child processes that are started again if they crash. A
        memory store cannot be shared with children: then the worker runs in this process. They
        serve every queue that the code declares, unless `queues` names others. What happens is
        logged; to stderr, if the program has not set logging up.
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

    def _compose(self) -> Engine:
        store = self._given_store or open_store(self.settings.store)
        store.upgrade()
        url = "" if self._given_store else self.settings.store
        broker = self._given_broker or open_broker(self.settings.broker, store_url=url, store=store)
        bell = Bell(
            store, broker, horizon=self.settings.horizon, clock=self.clock, events=self.events
        )
        return Engine(store, bell, self.settings, self.clock, self.events, tzdata_version())


def _actor() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        return ""
