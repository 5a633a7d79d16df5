"""Limits: when executions that wait for one may go on.

The store parks an execution whose limit is full, and frees parked executions on request. Every
process requests that after each event that may leave room under a limit: an execution of the limit
ended, or did not start. A rate opens with time: this module keeps the instants. If a worker dies
before its request, the next sweep of any worker frees the executions.
"""

from collections.abc import Callable, Collection
from threading import Lock
from typing import TYPE_CHECKING

from sempre.errors import StoreError
from sempre.ports.limits import Opened
from sempre.ports.messages import Reading

if TYPE_CHECKING:
    from sempre.engine.core import Engine

__all__ = ["LimitOpener"]

MOST = 1000
# Two clocks differ a little: a rate that seems to open is asked again no sooner than this.
SOONEST = 0.005
# The sweeps of the store from one sweep of limits to the next, in a process that has met no limit:
# an idle fleet without limits costs the store next to nothing.
UNUSED = 4


class LimitOpener:
    """Frees executions of one process's store that wait for limits; used from many threads."""

    def __init__(self, engine: "Engine") -> None:
        """Begin with a sweep at once."""
        self._engine = engine
        self._wanted: set[str] = set()
        self._opens: dict[str, float] = {}
        self._sweep_at = 0.0
        self._after = ""
        self._is_used = False
        self._lock = Lock()
        self._listeners: tuple[Callable[[], None], ...] = ()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call a worker when the next step is due sooner than before."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def unsubscribe(self, listener: Callable[[], None]) -> None:
        """Call a worker no longer."""
        with self._lock:
            self._listeners = tuple(each for each in self._listeners if each != listener)

    @property
    def rest(self) -> float:
        """Seconds to rest before the next step."""
        with self._lock:
            at = 0.0 if self._wanted else min([self._sweep_at, *self._opens.values()])
        return max(0.0, at - self._engine.clock.elapsed())

    def open(self, keys: Collection[str]) -> None:
        """Free executions that wait for these limits; after an error, the next step tries again."""
        if not keys:
            return
        with self._lock:
            self._is_used = True
            self._wanted.update(keys)
        try:
            self._open_wanted()
        except StoreError as error:
            self._engine.outage.failed(error)

    def step(self) -> None:
        """Open the limits whose time has come; once in a sweep, check every limit.

        Raises:
            StoreUnavailable: the next step tries again.
        """
        now = self._engine.clock.elapsed()
        with self._lock:
            self._wanted.update(key for key, at in self._opens.items() if at <= now)
            sweeps = self._sweep_at <= now
            if sweeps:
                rest = self._engine.settings.sweep.total_seconds()
                self._sweep_at = now + (rest if self._is_used else UNUSED * rest)
        self._open_wanted()
        if sweeps:
            self._sweep()

    def open_all(self) -> None:
        """Free executions that wait for any limit, such as after a cancellation."""
        try:
            self._sweep()
        except StoreError as error:
            self._engine.outage.failed(error)

    def _sweep(self) -> None:
        reading = self._engine.store.open_limits(None, limit=MOST, after=self._after)
        self._after = reading.value.last
        self._note((), reading)

    def _open_wanted(self) -> None:
        with self._lock:
            keys = sorted(self._wanted)[:MOST]
        if keys:
            self._note(keys, self._engine.store.open_limits(keys, limit=MOST))

    def _note(self, keys: Collection[str], reading: Reading[Opened]) -> None:
        """Ring freed executions, and note when rates open."""
        opened, elapsed = self._engine.read(reading), self._engine.clock.elapsed()
        opens = {
            key: elapsed + max(SOONEST, (at - reading.now).total_seconds())
            for key, at in opened.opens.items()
        }
        with self._lock:
            self._is_used = self._is_used or bool(opened.freed or opens)
            self._wanted.difference_update(keys)
            earliest = min(self._opens.values(), default=self._sweep_at)
            self._opens = {key: at for key, at in self._opens.items() if key not in keys} | opens
            is_sooner = min(opens.values(), default=earliest) < earliest
            listeners = self._listeners if is_sooner else ()
        for listener in listeners:
            listener()
        self._engine.bell.ring_waiting(opened.freed, reading.now)
