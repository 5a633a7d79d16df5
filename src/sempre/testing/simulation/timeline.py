"""The timeline: which part acts when; re-entrant, so that others act while one waits.

A step that calls a store or broker can let the timeline run on before it goes on itself. That is
how threads and processes interleave here, without threads: whoever is in the middle of a step is
busy, everybody else may act, and time may pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from sempre.testing.simulation.clock import MICROSECONDS, VirtualTime

__all__ = ["Actor", "Owner", "StandsStill", "Timeline"]


MOST_REPEATS = 5000


class StandsStill(AssertionError):
    """An actor acts for ever at one instant."""


class Owner(Protocol):
    """Whose actors stand still, or are no more."""

    @property
    def is_dead(self) -> bool:
        """Whether it will never act again."""
        ...

    @property
    def frozen_until(self) -> int:
        """Until when, in true time, it does nothing."""
        ...


@dataclass(eq=False)
class Actor:
    """One thing that is done again and again, or once.

    Attributes:
        name: for the trace.
        step: does it; returns after how many seconds to come back, None for when called.
        owner: which process it belongs to.
    """

    name: str
    step: Callable[[], float | None]
    owner: Owner | None = None
    at: int | None = field(default=None, init=False)
    is_busy: bool = field(default=False, init=False)
    is_called: bool = field(default=False, init=False)
    acted_at: int = field(default=-1, init=False)
    repeats: int = field(default=0, init=False)


class Timeline:
    """Calls actors in order of time."""

    def __init__(self, time: VirtualTime) -> None:
        """Begin with nothing to come."""
        self.time = time
        self.steps = 0
        self._heap: list[tuple[int, int, Actor]] = []
        self._numbers = count()

    def call(self, actor: Actor, after: float = 0.0) -> None:
        """Call an actor after so many seconds, unless it is called sooner anyway."""
        # Rounded up, as a step that comes a microsecond early would find nothing to do.
        at = self.time.now + max(0, -int(-after * MICROSECONDS // 1))
        if actor.at is None or at < actor.at:
            self._push(actor, at)

    def move(self, actor: Actor, after: float) -> None:
        """Call an actor after so many seconds, also if it would have been called sooner."""
        self._push(actor, self.time.now + round(after * MICROSECONDS))

    def run_for(self, seconds: float) -> None:
        """Let time pass, and everybody act who is not busy."""
        until = self.time.now + round(seconds * MICROSECONDS)
        while self._heap and self._heap[0][0] <= until:
            at, _, actor = heappop(self._heap)
            if actor.at == at:
                actor.at = None
                self.time.now = max(self.time.now, at)
                self.act(actor)
        self.time.now = max(self.time.now, until)

    def act(self, actor: Actor) -> None:
        """Let an actor do its step now; it waits if it is busy or frozen."""
        owner = actor.owner
        if owner is not None and owner.is_dead:
            return
        if actor.is_busy:
            actor.is_called = True
            return
        if owner is not None and owner.frozen_until > self.time.now:
            self._push(actor, owner.frozen_until)
            return
        self._check_time_passes(actor)
        actor.is_busy = True
        self.steps += 1
        try:
            rest = actor.step()
        finally:
            actor.is_busy = False
        called, actor.is_called = actor.is_called, False
        if called or rest is not None:
            self.call(actor, 0.0 if called or rest is None else rest)

    def _check_time_passes(self, actor: Actor) -> None:
        actor.repeats = actor.repeats + 1 if actor.acted_at == self.time.now else 0
        actor.acted_at = self.time.now
        if actor.repeats > MOST_REPEATS:
            raise StandsStill(f"{actor.name} comes back again and again and lets no time pass")

    def _push(self, actor: Actor, at: int) -> None:
        actor.at = at
        heappush(self._heap, (at, next(self._numbers), actor))
