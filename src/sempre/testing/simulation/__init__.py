"""Simulation: the real engine on virtual time, among faults, judged after every step.

One seed is one run. Workers, broker and store are simulated in one thread: before and after each
operation others may act, time may pass, processes may die or stand still, and replies get lost.
The simulation knows nothing of drivers, SQL, threads, forks and the kernel.

    python -m sempre.testing.simulation --seconds 60
    python -m sempre.testing.simulation --seed 42
    python -m sempre.testing.simulation --world hourly
"""

from sempre.testing.simulation.clock import VirtualClock, VirtualTime
from sempre.testing.simulation.running import Simulation
from sempre.testing.simulation.scenes import Scene
from sempre.testing.simulation.stage import Broken
from sempre.testing.simulation.world import Failure, Summary, World, simulate

__all__ = [
    "Broken",
    "Failure",
    "Scene",
    "Simulation",
    "Summary",
    "VirtualClock",
    "VirtualTime",
    "World",
    "simulate",
]
