"""A simulation as a value: which seed, how long, in which world."""

from dataclasses import dataclass

from sempre.testing.simulation.scenes import NAMED
from sempre.testing.simulation.shrinking import shrink
from sempre.testing.simulation.world import STEPS, Failure, Summary, simulate

__all__ = ["Simulation"]


@dataclass(frozen=True)
class Simulation:
    """The real engine on virtual time among faults; the same seed is the same run.

    Attributes:
        seed: decides everything that happens.
        steps: how many there are at least, before the world heals for the last time.
        world: the name of a known one; a random one if it is empty.
    """

    seed: int
    steps: int = STEPS
    world: str = ""

    def run(self) -> Summary:
        """Return what was seen; its digest is the same for the same seed and code.

        Raises:
            Failure: a promise was broken; it tells the seed and as few faults as were found soon.
            KeyError: no world has that name.
        """
        scene = NAMED[self.world] if self.world else None
        try:
            return simulate(self.seed, steps=self.steps, scene=scene)
        except Failure as failure:
            raise shrink(failure, scene=scene) from failure.__cause__
