"""A world: workers, schedules, faults and time; one seed repeats one run exactly."""

from dataclasses import dataclass, field
from datetime import timedelta

from sempre.testing.simulation.account import draw_up
from sempre.testing.simulation.brokers import Exchange
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.chaos import Chaos
from sempre.testing.simulation.clock import MICROSECONDS
from sempre.testing.simulation.effects import Effects
from sempre.testing.simulation.executors import draw_script
from sempre.testing.simulation.faults import NO_FAULTS, Faults
from sempre.testing.simulation.fleet import Fleet
from sempre.testing.simulation.healing import Healing
from sempre.testing.simulation.judge import Judge
from sempre.testing.simulation.mercy import Mercy
from sempre.testing.simulation.operators import Operator
from sempre.testing.simulation.processes import Client, Premises
from sempre.testing.simulation.scenes import Scene, draw_scene
from sempre.testing.simulation.stage import Broken, Program, Stage
from sempre.testing.simulation.stores import WatchedStore
from sempre.testing.simulation.trace import KEPT

__all__ = ["Failure", "Summary", "World", "simulate"]

STEPS = 4000
MOST_SHOWN = 40
# Hundredths of a second for which a backlog may keep workers busy while faults are off.
BACKLOG = 6000


@dataclass(frozen=True)
class Summary:
    """The figures of one run.

    Attributes:
        steps: number of steps of all actors: worker loops, runs and chaos.
        operations: number of operations of the store.
        seconds: simulated time in seconds.
        slots: number of slots that the cursors of all schedules have passed.
        counts: number of starts and of faults, by name.
        digest: hash of all events; equal for equal seed and code.
    """

    seed: int
    steps: int
    operations: int
    seconds: float
    slots: int
    counts: dict[str, int] = field(default_factory=dict)
    digest: str = ""


class Failure(AssertionError):
    """A run broke a promise; the message has the seed, the faults and the latest events.

    Attributes:
        strikes: the faults that happened.
        mercy: selects the faults that were left out.
    """

    def __init__(
        self, seed: int, steps: int, error: BaseException, trace: str, mercy: Mercy | None = None
    ) -> None:
        """Compose a message with the trace, the faults and the command that repeats the run."""
        self.seed = seed
        self.steps = steps
        self.mercy = mercy or Mercy()
        self.strikes = tuple(self.mercy.strikes)
        shown = "\n".join(str(each) for each in self.strikes[-MOST_SHOWN:])
        faults = (
            f"{len(self.strikes)} faults led to it:\n{shown}" if shown else "No fault led to it."
        )
        again = f"python -m sempre.testing.simulation --seed {seed} --steps {steps}"
        again += self.mercy.options
        super().__init__(f"{trace}\n\n{faults}\n\n{error!r}\n\nTo see it again: {again}")


def simulate(
    seed: int,
    *,
    steps: int = STEPS,
    lines: int = KEPT,
    mercy: Mercy | None = None,
    scene: Scene | None = None,
) -> Summary:
    """Run one world for at least `steps` steps and until the world has healed.

    Without a scene, the seed draws a random scene. A failure shows the latest `lines` events.
    Mercy leaves some faults out.

    Raises:
        Failure: a promise was broken, or the world raised an unexpected error.
    """
    chance, mercy = Chance(seed), mercy or Mercy()
    with chance.in_force():
        world = World(chance, scene, mercy)
        try:
            world.run(steps)
        except Exception as error:
            trace = world.stage.trace.tail(lines)
            raise Failure(seed, steps, error, trace, mercy) from error
    return world.summary(seed)


class World:
    """All parts of one simulation: store, broker, workers, operator, chaos and judge."""

    def __init__(
        self, chance: Chance, scene: Scene | None = None, mercy: Mercy | None = None
    ) -> None:
        """Create a store, a broker and workers; without a scene, draw a random scene."""
        scene = scene or draw_scene(chance)
        self.chance = chance
        self.stage = Stage(chance, scene.settings, mercy)
        self.store = WatchedStore(self.stage.store_clock, str(chance.identity()))
        self.effects = Effects()
        self.judge = Judge(self.store, self.effects)
        self.exchange = Exchange(self.stage, carries=scene.carries, precision=scene.precision)
        self.exchange.exists = self.store.tables.executions.__contains__
        self.premises = Premises(self.store, self.exchange, self.judge, self.effects)
        self.premises.script = lambda _run: draw_script(chance, peace=self.premises.peace)
        self.person = Client("ann", self.premises, like=Program("nobody", self.stage))
        self.operator = Operator(self.person, scene.names, scene.grid)
        self.fleet = Fleet(self.stage, self.premises, size=scene.workers, hands=scene.hands)
        self.chaos = Chaos(self.stage, self.fleet, self.operator, scene.paces)
        self._suffering = scene.suffering
        self.healing = Healing(self.stage, self.store, self.fleet, self.judge)

    def run(self, steps: int) -> None:
        """Alternate faults and peace for at least `steps` steps; end in peace."""
        self.operator.create_all()
        while True:
            self.suffer(self.chance.choice(self._suffering))
            self.heal()
            if self.stage.timeline.steps >= steps:
                break
        account = draw_up(self.judge.book, self.effects)
        self.stage.trace.count("slots run", account.targets)
        self.stage.trace.count("slots done", account.done)
        self.stage.trace.count("runs repeated", account.repeated)

    def suffer(self, seconds: float) -> None:
        """Turn faults on for a number of seconds."""
        self.premises.peace = False
        self.stage.faults = Faults.drawn(self.chance)
        self.chaos.begin()
        self._pass(seconds)

    def heal(self) -> None:
        """Stop every fault, let the world recover, and check that the world has healed."""
        self.premises.peace = True
        self.stage.faults = NO_FAULTS
        self.stage.store_down_until = self.stage.broker_down_until = 0
        self.stage.broker_deaf_until = 0
        self.operator.free_all()
        self.fleet.heal()
        self.stage.trace.count("heals")
        # A clock that was set back first returns to its latest time: leases end by that clock.
        behind = self.judge.latest - self.store.clock.now()
        self._pass(self.healing.leases + behind.total_seconds())
        self._pass_until_idle()
        self.healing.check_leases()
        self._pass(self.healing.patience - self.healing.leases)
        calm_since, calm_at = self.store.clock.now(), self.stage.time.now
        interval = self.stage.settings.watchdog_interval.total_seconds()
        self._pass(max(60.0, interval))
        self._pass_until_idle()
        self.effects.check_repeated()
        self.healing.check(calm_since + timedelta(seconds=1), calm_at + MICROSECONDS)

    def summary(self, seed: int) -> Summary:
        """Return the figures of the run."""
        slots = sum(len(each) for each in self.judge.book.decided.values())
        return Summary(
            seed=seed,
            steps=self.stage.timeline.steps,
            operations=self.judge.operations,
            seconds=self.stage.time.seconds,
            slots=slots,
            counts=dict(self.stage.trace.counts),
            digest=self.stage.trace.digest,
        )

    def _pass(self, seconds: float) -> None:
        until = self.stage.later(seconds)
        while self.stage.time.now < until:
            left = (until - self.stage.time.now) / MICROSECONDS
            self.stage.timeline.run_for(min(5.0, left))
            self.judge.check_remembered()

    def _pass_until_idle(self) -> None:
        """Let time pass until no run is in flight, because a run may begin at any moment.

        While workers catch up on a backlog, one run follows another.
        """
        for _ in range(BACKLOG):
            if not any(worker.executor.fences for worker in self.fleet.workers):
                return
            self._pass(0.01)
        raise Broken("runs never end in times of peace")
