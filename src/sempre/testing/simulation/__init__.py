"""Simulation: the real engine on virtual time, with faults, judged after every operation.

One seed is one run. Workers, broker and store are simulated in one thread: before and after each
operation other actors may act, time may pass, processes may die or stand still, and replies may get
lost. Drivers, SQL, threads, forks and the kernel are outside the simulation.

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
