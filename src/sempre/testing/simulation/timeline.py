"""The timeline: which actor acts when; re-entrant, so that other actors act while one waits.

A step that calls a store or broker can let the timeline run before the step continues. That is how
threads and processes interleave here, without threads: an actor in the middle of a step is busy,
every other actor may act, and time may pass.
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
    """An actor acts again and again at one instant, and time does not pass."""


class Owner(Protocol):
    """The owner of actors, usually a process: a frozen or dead owner stops its actors."""

    @property
    def is_dead(self) -> bool:
        """Whether the actors of this owner never act again."""
        ...

    @property
    def frozen_until(self) -> int:
        """Until when, in true time, the actors of this owner stand still."""
        ...


@dataclass(eq=False)
class Actor:
    """A step that the timeline calls once or repeatedly.

    Attributes:
        name: name of the actor in errors.
        step: does the work; returns the seconds until its next call, or None to wait for a call.
        owner: the process that the actor belongs to.
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
        """Begin without scheduled calls."""
        self.time = time
        self.steps = 0
        self._heap: list[tuple[int, int, Actor]] = []
        self._numbers = count()

    def call(self, actor: Actor, after: float = 0.0) -> None:
        """Call an actor after a number of seconds, unless an earlier call is scheduled."""
        # Rounded up: a step that comes a microsecond early would find no work.
        at = self.time.now + max(0, -int(-after * MICROSECONDS // 1))
        if actor.at is None or at < actor.at:
            self._push(actor, at)

    def move(self, actor: Actor, after: float) -> None:
        """Call an actor after a number of seconds, in place of an earlier call."""
        self._push(actor, self.time.now + round(after * MICROSECONDS))

    def run_for(self, seconds: float) -> None:
        """Let time pass, and let every actor that is not busy act."""
        until = self.time.now + round(seconds * MICROSECONDS)
        while self._heap and self._heap[0][0] <= until:
            at, _, actor = heappop(self._heap)
            if actor.at == at:
                actor.at = None
                self.time.now = max(self.time.now, at)
                self.act(actor)
        self.time.now = max(self.time.now, until)

    def act(self, actor: Actor) -> None:
        """Let an actor do its step now; a busy or frozen actor acts later."""
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
