"""Composition: the store, the broker and the engine of an application in this process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getuser

from sempre.clock import Clock
from sempre.config import Settings
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.errors import Refused
from sempre.grids.zones import tzdata_version
from sempre.ports.broker import Broker
from sempre.ports.store import Store
from sempre.ports.tracing import Tracer
from sempre.urls import masked, open_broker, open_store

__all__ = ["Composition", "current_user"]


class Composition:
    """Composes the engine of a process when it is first needed; a forked child gets its own.

    Args:
        settings: name the store and the broker by URL.
        store: instead of that of the settings.
        broker: instead of that of the settings.
        clock: of this process.
        events: to which the engine reports.
        tracer: begins spans.

    Attributes:
        clock: in use; that of a virtual engine while the application works on one.
        is_virtual: whether the application works on virtual time, where tests are its one worker.
        sets_up: whether a store that is not set up is set up; if not, such a store is refused.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store | None,
        broker: Broker | None,
        clock: Clock,
        events: Events,
        tracer: Tracer | None = None,
    ) -> None:
        """Connect to nothing yet."""
        self.clock = clock
        self.is_virtual = False
        self.sets_up = True
        self._settings = settings
        self._store = store
        self._broker = broker
        self._events = events
        self._tracer = tracer
        self._engine: tuple[int, Engine] | None = None

    @property
    def engine(self) -> Engine:
        """The engine of this process, composed when it is first needed.

        Raises:
            StoreGone: the store is not set up, and `sets_up` is False.
        """
        if self._engine is None or self._engine[0] != os.getpid():
            self._engine = os.getpid(), self._compose()
        return self._engine[1]

    @property
    def has_url(self) -> bool:
        """Whether the store was named by a URL, so that other processes can open it."""
        return self._store is None

    @property
    def can_fork(self) -> bool:
        """Whether child processes can open the same store and broker."""
        by_url = self._store is None and self._broker is None
        return by_url and open_store(self._settings.store).capabilities.shared

    @property
    def place(self) -> str:
        """The store and the broker, without passwords."""
        given, bell = self._store, self._broker
        store = masked(self._settings.store) if given is None else type(given).__name__
        broker = masked(self._settings.broker) if bell is None else type(bell).__name__
        return f"{store}, broker {broker}" if broker else store

    @contextmanager
    def working_on(self, engine: Engine) -> Iterator[None]:
        """Work on a virtual engine inside a `with` block, and leave the own store alone.

        Raises:
            Refused: the application works on a virtual engine already.
        """
        if self.is_virtual:
            raise Refused("this application is on virtual time already; leave that first.")
        before = self._engine, self.clock
        self._engine, self.clock, self.is_virtual = (os.getpid(), engine), engine.clock, True
        try:
            yield
        finally:
            (self._engine, self.clock), self.is_virtual = before, False

    def is_working_on(self, engine: Engine) -> bool:
        """Return whether an engine is the one in use."""
        return self._engine is not None and self._engine[1] is engine

    def close(self) -> None:
        """Close every connection of this process."""
        if self._engine and self._engine[0] == os.getpid():
            self._engine[1].bell.broker.close()
            self._engine[1].store.close()
        self._engine = None

    def _compose(self) -> Engine:
        settings = self._settings
        store = self._ready_store()
        url = "" if self._store else settings.store
        broker = self._broker or open_broker(settings.broker, store_url=url, store=store)
        bell = Bell(store, broker, horizon=settings.horizon, clock=self.clock, events=self._events)
        tzdata = tzdata_version()
        return Engine(store, bell, settings, self.clock, self._events, tzdata, self._tracer)

    def _ready_store(self) -> Store:
        """Return the open store, set up and examined; a store that is refused is closed."""
        store = self._store or open_store(self._settings.store)
        try:
            if self.sets_up:
                store.upgrade()
            else:
                _ = store.uuid, store.weaker_promises
        except BaseException:
            if self._store is None:
                store.close()
            raise
        return store


def current_user() -> str:
    """Return the name of the user who runs this process; empty if it has none."""
    try:
        return getuser()
    except (KeyError, OSError):
        return ""
