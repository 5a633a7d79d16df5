"""The stage: what the parts of a simulated world share, and what happens between two operations."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from sempre.testing.simulation.clock import MICROSECONDS, START, VirtualClock, VirtualTime
from sempre.testing.simulation.faults import NO_FAULTS, Faults
from sempre.testing.simulation.mercy import Mercy
from sempre.testing.simulation.timeline import Actor, Timeline
from sempre.testing.simulation.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sempre.config import Settings
    from sempre.testing.simulation.chance import Chance

__all__ = ["Broken", "Killed", "Program", "Sight", "Stage", "WouldWait"]

DEEPEST = 3
# Cheap quartz is off by at most 100 in a million; a clock that is slewed by up to 500.
DRIFTS = (0.0, 0.0, 0.0001, -0.0001, 0.0005, -0.0005)
SHORT_WAITS = (0.001, 0.01, 0.1, 1.0, 3.0)


class Killed(BaseException):
    """The process of this step is dead; nothing of the step happens any more.

    No error of the system's own tree: nobody may catch it and go on.
    """


class WouldWait(BaseException):
    """The step waits from here on; it is called again when somebody rings or the time is over."""

    def __init__(self, seconds: float) -> None:
        """Wait for so long at most."""
        super().__init__(seconds)
        self.seconds = seconds


class Broken(AssertionError):
    """A promise of the system was broken."""


@dataclass
class Sight:
    """What a program has looked at in the store.

    Attributes:
        lately: ids of executions.
        looked_at: when it last did, in true time.
        swept_at: when it last asked for what has expired, in true time.
    """

    lately: deque[str] = field(default_factory=lambda: deque(maxlen=500))
    looked_at: int = 0
    swept_at: int = 0

    def see(self, ids: Iterable[str], at: int) -> None:
        """Note that it looks at executions."""
        self.lately.extend(ids)
        self.looked_at = at


class Program:
    """A process that uses the store and the broker.

    Attributes:
        is_dead: it was killed, or has ended.
        frozen_until: it stands still, as under SIGSTOP.
        cut_until: it cannot reach the store.
        operations: how many of the store it has carried out.
        has_seen_fault: an operation of it has failed since somebody last set this to False.
    """

    def __init__(self, name: str, stage: "Stage") -> None:
        """Come into being, with a clock that is somewhat wrong."""
        chance = stage.chance
        # Of its own, so that a fault that is left out elsewhere changes little here.
        self.chance = chance.apart()
        skew = timedelta(seconds=chance.choice((0, 0, 0, 90, -90, 3600)))
        origin, drift = chance.randrange(100_000), chance.choice(DRIFTS)
        self.name = name
        self.stage = stage
        self.clock = VirtualClock(stage.time, skew=skew, origin=origin, drift=drift)
        self.is_dead = False
        self.frozen_until = 0
        self.cut_until = 0
        self.has_seen_fault = False
        self.operations = 0
        self.sight = Sight()

    def freeze(self, seconds: float) -> None:
        """Stand still for a while."""
        until = self.stage.time.now + round(seconds * MICROSECONDS)
        self.frozen_until = max(self.frozen_until, until)

    def die(self) -> None:
        """End without a word."""
        self.is_dead = True

    def fail(self) -> None:
        """Note that an operation failed."""
        self.has_seen_fault = True


class Stage:
    """Time, chance, faults and the trace of one run.

    Attributes:
        failing: operations of the store that all fail before anything has happened.
        unanswered: operations of the store whose answers are all lost.
    """

    def __init__(self, chance: "Chance", settings: "Settings", mercy: Mercy | None = None) -> None:
        """Begin at the beginning, without faults."""
        self.chance = chance
        self.mercy = mercy or Mercy()
        self.settings = settings
        self.time = VirtualTime()
        self.timeline = Timeline(self.time)
        self.trace = Trace(self.time)
        self.store_clock = VirtualClock(self.time)
        self.faults: Faults = NO_FAULTS
        self.store_down_until = 0
        self.broker_down_until = 0
        self.broker_deaf_until = 0
        self.failing: frozenset[str] = frozenset()
        self.unanswered: frozenset[str] = frozenset()
        self.clock_stepped_at = -(10**12)
        self.clock_in_doubt_until = START
        self.actors: Callable[[], list[Actor]] = list

    def strikes(self, program: Program, kind: str, probability: float) -> bool:
        """Decide whether a fault happens to a program now."""
        happens = program.chance.happens(probability)
        return happens and self.mercy.lets(kind, self.time.seconds)

    def step_clock(self, by: timedelta) -> None:
        """Set the store's clock; what was planned before may come early or late."""
        self.clock_stepped_at = self.time.now
        known = (self.clock_in_doubt_until, self.store_clock.now())
        self.store_clock.step(by)
        self.clock_in_doubt_until = max(*known, self.store_clock.now())

    def is_clock_in_doubt(self) -> bool:
        """Tell whether processes may not yet know that the store's clock was set.

        Or whether the clock shows a time for the second time: rows tell of the first one too.
        """
        passed = (self.time.now - self.clock_stepped_at) / MICROSECONDS
        unknown = passed < 2 * self.settings.lease.total_seconds()
        return unknown or self.store_clock.now() <= self.clock_in_doubt_until

    def later(self, seconds: float) -> int:
        """Return the true time in so many seconds."""
        return self.time.now + round(seconds * MICROSECONDS)

    def store_is_away(self, program: Program, operation: str = "") -> bool:
        """Tell whether a program cannot reach the store now, or not for an operation."""
        away = max(self.store_down_until, program.cut_until) > self.time.now
        return away or operation in self.failing

    def broker_is_away(self) -> bool:
        """Tell whether nobody can reach the broker now."""
        return self.broker_down_until > self.time.now

    def broker_is_deaf(self) -> bool:
        """Tell whether the broker delivers nothing now, whatever it takes."""
        return self.broker_deaf_until > self.time.now

    def interleave(self, program: Program) -> None:
        """Let happen what can happen between two operations of a program.

        Raises:
            Killed: the program has died meanwhile.
        """
        if not program.is_dead and self.trace.depth < DEEPEST:
            self._meddle(program)
        while program.frozen_until > self.time.now and not program.is_dead:
            self._wait((program.frozen_until - self.time.now) / MICROSECONDS)
        if program.is_dead:
            raise Killed

    def _meddle(self, program: Program) -> None:
        chance, faults = program.chance, self.faults
        if self.strikes(program, "crash", faults.crash):
            self.trace.note(program.name, "dies between two operations")
            self.trace.count("kills")
            program.die()
        elif self.strikes(program, "freeze", faults.freeze):
            self.trace.note(program.name, "stands still between two operations")
            self.trace.count("pauses")
            program.freeze(self.settings.lease.total_seconds() * chance.uniform(0.5, 3))
        elif chance.happens(faults.latency):
            self._wait(chance.choice(SHORT_WAITS))
        elif chance.happens(faults.interleaving):
            self._let_others_act(chance)

    def _wait(self, seconds: float) -> None:
        self.trace.depth += 1
        try:
            self.timeline.run_for(seconds)
        finally:
            self.trace.depth -= 1

    def _let_others_act(self, chance: "Chance") -> None:
        """Let somebody act who is not in the middle of something."""
        free = [actor for actor in self.actors() if not actor.is_busy]
        self.trace.depth += 1
        try:
            for actor in chance.sample(free, min(len(free), chance.choice((1, 1, 2)))):
                self.timeline.act(actor)
        finally:
            self.trace.depth -= 1
