"""Sessions: one worker process's registration, which holds the leases of what it runs.

A worker that cannot show life for the length of a lease must believe that others have its work.
It decides that by its own steady clock, from before it last asked: the store's answer may have
been a long time on the way.
"""

import os
import socket
from datetime import datetime
from uuid import uuid4

from sempre.engine.core import Engine, Told
from sempre.errors import StoreError, StoreGone
from sempre.ports.messages import Session, Tick, Wanted

__all__ = ["Heart"]


class Heart:
    """Keeps a session alive and hears what the store has to say."""

    def __init__(self, engine: Engine, *, wanted: Wanted, pid: int | None = None) -> None:
        """Show life for a worker that wants this work: the process of this pid, or this one."""
        self._engine = engine
        self._pid = pid
        self._wanted = wanted
        self._alive_at: float | None = None
        self.session = ""
        self.tick = Tick(alive=False)
        self.told: Told | None = None
        self.answered = False
        self.error = ""

    @property
    def is_lost(self) -> bool:
        """Whether a lease has passed since the store last renewed it, for all we know."""
        if self._alive_at is None:
            return True
        lease = self._engine.settings.lease.total_seconds()
        return self._engine.clock.elapsed() - self._alive_at >= lease

    def allow(self, seconds: float, *, at_most: bool = False) -> None:
        """Nothing: this heart beats in the worker's own process, and is silent when that is."""

    @property
    def heard(self) -> bool:
        """Whether there is news since the last beat."""
        return self.answered

    def elapsed(self) -> float:
        """Return the point of the steady clock by which it counts."""
        return self._engine.clock.elapsed()

    @property
    def rest(self) -> float:
        """How long to rest before the next beat."""
        return self._engine.settings.beat.total_seconds()

    @property
    def asked_at(self) -> float:
        """When the store was last asked and answered, by the steady clock."""
        return self._alive_at or 0.0

    @property
    def now(self) -> datetime:
        """The store's now, as far as it is known."""
        return self._engine.time.now()

    def register(self) -> None:
        """Begin a session under an id that was never used before.

        Raises:
            StoreUnavailable: nobody knows whether it exists; it expires unused if it does.
            StoreGone: the store is not set up any more.
        """
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
        """Renew the lease; return what the store tells, or that the session is not alive.

        A store that does not answer, or refuses the renewal, is no reason to give up before the
        lease is over: `error` says why. After that it is not asked: by our own steady clock others
        have had the time to take our work.
        """
        self.error = ""
        if self.is_lost:
            self.tick, self.answered = Tick(alive=False), False
            return self.tick
        asked_at, lease = self._engine.clock.elapsed(), self._engine.settings.lease
        try:
            reading = self._engine.store.tick(self.session, self._wanted, lease=lease)
        except StoreGone:
            # Of no identity: whoever hears that sees that it is another store, or none.
            self.tick, self.answered, self.told = Tick(alive=False), True, None
            return self.tick
        except StoreError as error:
            self.error = str(error)
            self.tick, self.answered = Tick(alive=not self.is_lost), False
            return self.tick
        self.tick, self.answered = self._engine.read(reading), True
        self.told = Told(reading.now, asked_at, self._engine.clock.elapsed())
        if self.tick.alive:
            self._alive_at = asked_at
        return self.tick

    def retire(self) -> None:
        """End the session; what it still holds is free at once."""
        if self.session:
            self._engine.store.retire(self.session)
            self._alive_at = None
