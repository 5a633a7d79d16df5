"""The heartbeat of a worker: registers its session, and renews the lease of what it runs.

A worker whose lease was not renewed for the length of a lease must assume that other workers have
claimed its executions. It decides that by its own steady clock, counted from before the last
question: the store's answer may have been a long time on the way.
"""

import os
import socket
from datetime import datetime
from typing import Protocol
from uuid import uuid4

from sempre.engine.core import ClockReading, Engine
from sempre.errors import StoreError, StoreGone
from sempre.ports.messages import Session, Tick, Wanted

__all__ = ["Heartbeat", "LocalHeartbeat"]


class Heartbeat(Protocol):
    """What a worker needs of its heartbeat, in its own process or in another one.

    Attributes:
        session: the id of the session; empty while there is none.
        tick: the last answer of the store, or that the session is not alive.
        clock_reading: the store's now in that answer.
        answered: whether the store answered the last beat.
        error: why the store did not answer the last beat.
    """

    session: str
    tick: Tick
    clock_reading: ClockReading | None
    answered: bool
    error: str

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it."""
        ...

    @property
    def has_news(self) -> bool:
        """Whether the last beat brought an answer or an error that was not known before."""
        ...

    @property
    def rest(self) -> float:
        """Seconds to rest before the next beat."""
        ...

    @property
    def asked_at(self) -> float:
        """When the store was asked for its last answer, by the steady clock."""
        ...

    def allow_silence(self, seconds: float, *, at_most: bool = False) -> None:
        """Expect no sign of life from the worker for so long: a run may hold the interpreter.

        Args:
            seconds: a shorter time than the one allowed before changes nothing.
            at_most: whether the time replaces a longer one too.
        """
        ...

    def register(self) -> None:
        """Begin a session under an id that was never used before.

        Raises:
            StoreUnavailable: whether the session exists is unknown; unused, the session expires.
            StoreGone: the store is not set up any more.
        """
        ...

    def beat(self) -> Tick:
        """Renew the lease; return the store's answer, or that the session is not alive."""
        ...

    def retire(self) -> None:
        """End the session; other workers may claim its executions at once."""
        ...


class LocalHeartbeat:
    """A heartbeat that this process sends itself; see `Heartbeat`."""

    def __init__(self, engine: Engine, *, wanted: Wanted, pid: int | None = None) -> None:
        """Show life for a worker that wants this work: the process of this pid, or this one."""
        self._engine = engine
        self._pid = pid
        self._wanted = wanted
        self._alive_at: float | None = None
        self.session = ""
        self.tick = Tick(alive=False)
        self.clock_reading: ClockReading | None = None
        self.answered = False
        self.error = ""

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it."""
        if self._alive_at is None:
            return True
        lease = self._engine.settings.lease.total_seconds()
        return self._engine.clock.elapsed() - self._alive_at >= lease

    def allow_silence(self, seconds: float, *, at_most: bool = False) -> None:
        """Do nothing: this heartbeat is in the worker's own process, and silent with it."""

    @property
    def has_news(self) -> bool:
        """Whether the store answered the last beat."""
        return self.answered

    @property
    def rest(self) -> float:
        """Seconds to rest before the next beat."""
        return self._engine.settings.beat.total_seconds()

    @property
    def asked_at(self) -> float:
        """When the store was asked for its last answer, by the steady clock."""
        return self._alive_at or 0.0

    @property
    def now(self) -> datetime:
        """The store's now, as estimated by this process."""
        return self._engine.time.now()

    def register(self) -> None:
        """Begin a session under an id that was never used before; see `Heartbeat.register`."""
        session, asked_at = str(uuid4()), self._engine.clock.elapsed()
        described = Session(
            id=session,
            host=socket.gethostname(),
            pid=self._pid or os.getpid(),
            queues=tuple(sorted(self._wanted.queues)),
            jobs=tuple(sorted(self._wanted.jobs)),
            tzdata=self._engine.tzdata,
            release=self._engine.settings.release,
        )
        lease = self._engine.settings.lease
        self._engine.read(self._engine.store.register(described, lease=lease))
        self.session, self._alive_at = session, asked_at

    def beat(self) -> Tick:
        """Renew the lease; return the store's answer, or that the session is not alive.

        A store that does not answer, or refuses the renewal, is no reason to give up before the
        lease is over: `error` says why. After that the store is not asked: by the steady clock,
        other workers have had the time to claim the executions of this session.
        """
        self.error = ""
        if self.is_lost:
            self.tick, self.answered = Tick(alive=False), False
            return self.tick
        asked_at, lease = self._engine.clock.elapsed(), self._engine.settings.lease
        try:
            reading = self._engine.store.tick(self.session, self._wanted, lease=lease)
        except StoreGone:
            # Without an identity: the worker sees that the store is another one, or gone.
            self.tick, self.answered, self.clock_reading = Tick(alive=False), True, None
            return self.tick
        except StoreError as error:
            self.error = str(error)
            self.tick, self.answered = Tick(alive=not self.is_lost), False
            return self.tick
        self.tick, self.answered = self._engine.read(reading), True
        self.clock_reading = ClockReading(reading.now, asked_at, self._engine.clock.elapsed())
        if self.tick.alive:
            self._alive_at = asked_at
        return self.tick

    def retire(self) -> None:
        """End the session; other workers may claim its executions at once."""
        if self.session:
            self._engine.store.retire(self.session)
            self._alive_at = None
