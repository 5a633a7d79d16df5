"""A simulation as a value: which seed, how long, in which world."""

from dataclasses import dataclass

from sempre.testing.simulation.scenes import NAMED
from sempre.testing.simulation.shrinking import shrink
from sempre.testing.simulation.world import STEPS, Failure, Summary, simulate

__all__ = ["Simulation"]


@dataclass(frozen=True)
class Simulation:
    """The real engine on virtual time with faults; a seed repeats its run exactly.

    Attributes:
        seed: source of every random decision.
        steps: minimum number of steps before the run ends.
        world: the name of a known world; a random world if empty.
    """

    seed: int
    steps: int = STEPS
    world: str = ""

    def run(self) -> Summary:
        """Return the figures of the run; the digest is equal for equal seed and code.

        Raises:
            Failure: a promise was broken; the message has the seed and a shortened list of faults.
            KeyError: no world has that name.
        """
        scene = NAMED[self.world] if self.world else None
        try:
            return simulate(self.seed, steps=self.steps, scene=scene)
        except Failure as failure:
            raise shrink(failure, scene=scene) from failure.__cause__
