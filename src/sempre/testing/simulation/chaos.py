"""Chaos: events that strike the world as a whole, one after another, while faults are on."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from sempre.testing.simulation.fleet import Fleet
from sempre.testing.simulation.operators import Operator
from sempre.testing.simulation.stage import Stage
from sempre.testing.simulation.timeline import Actor

__all__ = ["Chaos"]

STEPS = (-90, -5, 5, 90, 300)


class Chaos:
    """Strikes at random intervals, by the faults in force."""

    def __init__(
        self, stage: Stage, fleet: Fleet, operator: Operator, paces: Sequence[float]
    ) -> None:
        """Prepare; the first event comes after `begin`."""
        self._stage = stage
        self._fleet = fleet
        self._operator = operator
        self._chance = stage.chance.apart()
        self._pace = self._chance.choice(paces)
        self._actor = Actor("chaos", self._strike)

    def begin(self) -> None:
        """Schedule the first event."""
        self._stage.timeline.call(self._actor, self._chance.around(self._pace))

    def _strike(self) -> float | None:
        if self._fleet.premises.peace:
            return None
        weights = {name: getattr(self._stage.faults, name) for name in self._kinds()}
        possible = [name for name, weight in weights.items() if weight]
        if possible:
            [name] = self._chance.choices(possible, [weights[each] for each in possible])
            if self._stage.mercy.lets(name, self._stage.time.seconds):
                self._kinds()[name]()
        return self._chance.around(self._pace)

    def _kinds(self) -> dict[str, Callable[[], None]]:
        return {
            "kill": self._kill,
            "pause": self._pause,
            "restart": self._restart,
            "flush": self._flush,
            "broker_down": self._broker_down,
            "broker_deaf": self._broker_deaf,
            "store_down": self._store_down,
            "cut_off": self._cut_off,
            "clock_step": self._clock_step,
            "host_clock_step": self._host_clock_step,
            "deploy": self._deploy,
            "operate": self._operator.operate,
            "enqueue": self._operator.enqueue,
            "switch": self._operator.turn_switch,
        }

    def _kill(self) -> None:
        process = self._fleet.any_worker(self._chance)
        self._tell("kills", f"{process.name} is killed")
        process.die()

    def _pause(self) -> None:
        process = self._fleet.any_worker(self._chance)
        self._tell("pauses", f"{process.name} stands still")
        process.freeze(self._lease * self._chance.uniform(0.3, 4))

    def _restart(self) -> None:
        process = self._fleet.any_worker(self._chance)
        self._tell("restarts", f"{process.name} is asked to stop")
        process.retire()

    def _deploy(self) -> None:
        """Deploy other declarations, or sometimes replace a worker by one of another release."""
        if self._chance.happens(0.3):
            self._tell("other releases", "workers of another release are started")
            self._fleet.roll_out(self._chance)
        else:
            self._operator.deploy()

    def _flush(self) -> None:
        self._tell("flushes", "the broker forgets everything")
        self._fleet.premises.exchange.flush()

    def _broker_down(self) -> None:
        self._tell("broker outages", "the broker is away")
        self._stage.broker_down_until = self._stage.later(self._chance.uniform(1, 60))

    def _broker_deaf(self) -> None:
        self._tell("deaf brokers", "the broker takes messages and delivers none")
        self._stage.broker_deaf_until = self._stage.later(self._chance.uniform(5, 180))

    def _store_down(self) -> None:
        self._tell("store outages", "the store is away")
        seconds = self._lease * self._chance.uniform(0.1, 3)
        self._stage.store_down_until = self._stage.later(seconds)

    def _cut_off(self) -> None:
        process = self._fleet.any_worker(self._chance)
        self._tell("partitions", f"{process.name} cannot reach the store")
        process.cut_until = self._stage.later(self._lease * self._chance.uniform(0.1, 3))

    def _clock_step(self) -> None:
        seconds = self._chance.choice(STEPS)
        self._tell("clock steps", f"the store's clock is set by {seconds} s")
        self._stage.step_clock(timedelta(seconds=seconds))
        # Leases that were renewed before the clock step may end at once.
        for worker in self._fleet.workers:
            self._fleet.premises.effects.expose(worker)

    def _host_clock_step(self) -> None:
        process, seconds = self._fleet.any_worker(self._chance), self._chance.choice(STEPS)
        self._tell("clock steps", f"the clock of {process.name} is set by {seconds} s")
        process.clock.step(timedelta(seconds=seconds))

    @property
    def _lease(self) -> float:
        return self._stage.settings.lease.total_seconds()

    def _tell(self, counted: str, what: str) -> None:
        self._stage.trace.count(counted)
        self._stage.trace.note("chaos", what)
