"""The stage: time, chance and faults of a simulated world, and events between two operations."""

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
# Cheap quartz is off by at most 100 ppm; a slewed clock by at most 500 ppm.
DRIFTS = (0.0, 0.0, 0.0001, -0.0001, 0.0005, -0.0005)
SHORT_WAITS = (0.001, 0.01, 0.1, 1.0, 3.0)


class Killed(BaseException):
    """The process of this step is dead; the rest of the step does not happen.

    A BaseException outside the system's error tree: no handler may catch Killed and go on.
    """


class WouldWait(BaseException):
    """The step waits from here on; a ring or the end of the wait calls the step again."""

    def __init__(self, seconds: float) -> None:
        """Wait for at most `seconds`."""
        super().__init__(seconds)
        self.seconds = seconds


class Broken(AssertionError):
    """A promise of the system was broken."""


@dataclass
class Sight:
    """The executions that a program has read from the store.

    Attributes:
        lately: ids of the executions that were read last.
        looked_at: when the program last read executions, in true time.
        swept_at: when the program last queried expired leases, in true time.
    """

    lately: deque[str] = field(default_factory=lambda: deque(maxlen=500))
    looked_at: int = 0
    swept_at: int = 0

    def see(self, ids: Iterable[str], at: int) -> None:
        """Note that the program reads executions."""
        self.lately.extend(ids)
        self.looked_at = at


class Program:
    """A process that uses the store and the broker.

    Attributes:
        is_dead: whether the program was killed or has ended.
        frozen_until: until when the program stands still, as under SIGSTOP, in true time.
        cut_until: until when the program cannot reach the store, in true time.
        operations: how many operations of the store the program has carried out.
        has_seen_fault: whether an operation of the program failed since the last reset to False.
    """

    def __init__(self, name: str, stage: "Stage") -> None:
        """Start a program whose clock is off by a random skew and drift."""
        chance = stage.chance
        # A separate source: a fault that is left out elsewhere changes few decisions here.
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
        """End at once, without any further operation."""
        self.is_dead = True

    def fail(self) -> None:
        """Note that an operation failed."""
        self.has_seen_fault = True


class Stage:
    """Time, chance, faults and the trace of one run.

    Attributes:
        failing: names of operations of the store that always fail before taking effect.
        unanswered: names of operations of the store whose replies are always lost.
    """

    def __init__(self, chance: "Chance", settings: "Settings", mercy: Mercy | None = None) -> None:
        """Begin at the start of virtual time, without faults."""
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
        """Set the store's clock; rows that were planned before may come early or late."""
        self.clock_stepped_at = self.time.now
        known = (self.clock_in_doubt_until, self.store_clock.now())
        self.store_clock.step(by)
        self.clock_in_doubt_until = max(*known, self.store_clock.now())

    def is_clock_in_doubt(self) -> bool:
        """Return whether processes may not yet know that the store's clock was set.

        Also True while the clock repeats a time: rows carry instants of the first time too.
        """
        passed = (self.time.now - self.clock_stepped_at) / MICROSECONDS
        unknown = passed < 2 * self.settings.lease.total_seconds()
        return unknown or self.store_clock.now() <= self.clock_in_doubt_until

    def later(self, seconds: float) -> int:
        """Return the true time `seconds` from now."""
        return self.time.now + round(seconds * MICROSECONDS)

    def store_is_away(self, program: Program, operation: str = "") -> bool:
        """Return whether a program cannot reach the store now, at all or for one operation."""
        away = max(self.store_down_until, program.cut_until) > self.time.now
        return away or operation in self.failing

    def broker_is_away(self) -> bool:
        """Return whether the broker is unreachable now for every program."""
        return self.broker_down_until > self.time.now

    def broker_is_deaf(self) -> bool:
        """Return whether the broker now accepts messages and delivers none."""
        return self.broker_deaf_until > self.time.now

    def interleave(self, program: Program) -> None:
        """Let faults strike, time pass and other actors act between two operations of a program.

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
        """Let one or two actors act that are not in the middle of a step."""
        free = [actor for actor in self.actors() if not actor.is_busy]
        self.trace.depth += 1
        try:
            for actor in chance.sample(free, min(len(free), chance.choice((1, 1, 2)))):
                self.timeline.act(actor)
        finally:
            self.trace.depth -= 1
