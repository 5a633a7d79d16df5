"""An executor whose runs are scripts: how long each run lasts, and how each run ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sempre.domain.exception_types import type_names
from sempre.executors.runs_in_flight import TIMEOUT
from sempre.ports.executor import Ended, Outcome, Progress, Run
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.effects import Effects
from sempre.testing.simulation.stage import Program
from sempre.testing.simulation.timeline import Actor

__all__ = ["Script", "ScriptedExecutor", "draw_script"]

FOREVER = 10_000.0
LONGEST_IN_PEACE = 0.05
ERRORS = (ConnectionError, TimeoutError, ValueError)
ENDS = (
    *[Ended.SUCCEEDED] * 6,
    *[Ended.FAILED] * 3,
    *(Ended.CRASHED, Ended.RETRY_LATER, Ended.GAVE_UP),
)


@dataclass(frozen=True)
class Script:
    """The course of a run.

    Attributes:
        seconds: duration of the run without a cancel or timeout.
        ends: how the run ends after that duration.
        obeys: whether the run ends on a cancel or at its timeout.
        kills: whether the run ends its process: the worker, unless the run is alone.
        raises: the exception of a run that fails.
        after: how long an execution waits whose run asks for a later try.
    """

    seconds: float = 0.0
    ends: Ended = Ended.SUCCEEDED
    obeys: bool = True
    kills: bool = False
    raises: type[BaseException] = ValueError
    after: timedelta = timedelta(seconds=5)


def draw_script(chance: Chance, *, peace: bool) -> Script:
    """Return a random script; in times of peace the run is short, and succeeds or fails."""
    if peace:
        ends = Ended.FAILED if chance.happens(0.3) else Ended.SUCCEEDED
        return Script(chance.uniform(0.001, LONGEST_IN_PEACE), ends)
    seconds = chance.choice((0.01, 0.1, 0.5, 2.0, 7.0, 20.0, 60.0, FOREVER))
    ends = chance.choice(ENDS)
    script = Script(seconds * chance.uniform(0.5, 1.5), ends, chance.happens(0.8))
    after = timedelta(seconds=chance.choice((1, 5, 60)))
    return replace(script, raises=chance.choice(ERRORS), after=after)


@dataclass(eq=False)
class _Flight:
    """A run in flight."""

    run: Run
    done: Callable[[Run, Outcome], None]
    script: Script
    began: float
    actor: Actor
    ends: Ended
    error: str = ""
    is_over: bool = field(default=False)


class ScriptedExecutor:
    """Runs no code, and reports the outcome of each script when its time has come."""

    def __init__(
        self,
        program: Program,
        effects: Effects,
        *,
        script: Callable[[Run], Script],
        landed: Callable[[], None],
    ) -> None:
        """Belong to a process; `landed` is called after each run, and runs end with the process."""
        self._program = program
        self._stage = program.stage
        self._effects = effects
        self._script = script
        self._landed = landed
        self._flights: dict[int, _Flight] = {}
        self.stuck = 0

    @property
    def fences(self) -> set[int]:
        """The fences of the claims in flight."""
        return set(self._flights)

    def start(self) -> None:
        """Do nothing: scripts need no preparation."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run; the timeline calls its end."""
        self._effects.begin(run, self._program, self._stage.time.now)
        self._stage.trace.count("starts")
        script = self._script(run)
        fence = run.execution.fence
        actor = Actor(f"{self._program.name} run", lambda: self._land(fence), self._program)
        began = self._stage.time.seconds
        flight = _Flight(run, done, script, began, actor, script.ends)
        self._flights[fence] = flight
        seconds = script.seconds
        if run.timeout is not None and run.timeout.total_seconds() < seconds:
            seconds, flight.ends = run.timeout.total_seconds(), Ended.TIMED_OUT
            flight.error = "it took too long"
        self._stage.timeline.call(actor, seconds)

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Ask a run to end; a run whose script does not obey goes on."""
        flights = [each for each in self._flights.values() if each.run.execution.id == execution_id]
        for flight in flights:
            if flight.script.obeys:
                flight.ends, flight.error = Ended.CANCELLED, reason
                self._stage.timeline.call(flight.actor, 0.01)
        return bool(flights)

    def progress(self) -> Mapping[str, Progress]:
        """Return no progress: scripts report none."""
        return {}

    def logs(self) -> Mapping[int, str]:
        """Return no log: scripts write none."""
        return {}

    def stop(self) -> None:
        """Drop every run without reporting an outcome."""
        self._flights.clear()

    def hurry(self) -> None:
        """Let every run end soon, with the outcome of its script."""
        self.stuck = 0
        for flight in list(self._flights.values()):
            self._stage.timeline.call(flight.actor, self._stage.chance.uniform(0.01, 1.0))

    def _land(self, fence: int) -> None:
        flight = self._flights.pop(fence, None)
        if flight is None:
            return
        if flight.script.kills:
            if not flight.run.is_alone:
                self._program.die()
                return
            flight.ends = Ended.CRASHED
        if flight.ends is Ended.TIMED_OUT and not flight.script.obeys:
            self._hold_thread(flight)
        outcome = _outcome(flight, self._stage.time.seconds - flight.began)
        self._effects.end(flight.run, outcome)
        flight.done(flight.run, outcome)
        self._landed()

    def _hold_thread(self, flight: _Flight) -> None:
        """Occupy a thread for a while after the run is over for the worker."""
        self.stuck += 1
        left = min(flight.script.seconds, 120.0)
        self._stage.timeline.call(Actor("stuck", self._let_go, self._program), left)

    def _let_go(self) -> None:
        self.stuck = max(0, self.stuck - 1)


def _outcome(flight: _Flight, seconds: float) -> Outcome:
    outcome = Outcome(flight.ends, error=flight.error, seconds=seconds)
    if flight.ends is Ended.FAILED:
        return outcome._replace(types=type_names(flight.script.raises))
    if flight.ends is Ended.TIMED_OUT:
        return outcome._replace(types=TIMEOUT)
    if flight.ends is Ended.RETRY_LATER:
        return outcome._replace(after=flight.script.after)
    return outcome
