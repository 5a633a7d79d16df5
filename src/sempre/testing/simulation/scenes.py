"""Scenes: the parts of a world, drawn at random, or named so that runs can be compared."""

from dataclasses import dataclass
from datetime import timedelta

from sempre.config import Settings
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.testing.simulation.chance import Chance

__all__ = ["NAMED", "Scene", "draw_scene", "draw_settings"]

NAMES = ("one", "two", "three", "four", "five")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The parts of a world.

    Attributes:
        settings: the settings of every worker.
        carries: whether the broker carries messages; if not, the store is its own broker.
        precision: seconds to a multiple of which the broker rounds delays up.
        workers: number of workers.
        hands: hands of each worker; None for a random number.
        names: names of the schedules that are created at the beginning with random definitions.
        grid: the grid of all schedules; None for random grids.
        paces: mean seconds between two events of chaos; one value is drawn.
        suffering: seconds with faults before the world heals; one value is drawn.
    """

    settings: Settings
    carries: bool = True
    precision: float = 0.0
    workers: int = 1
    hands: int | None = None
    names: tuple[str, ...] = ()
    grid: Grid | None = None
    paces: tuple[float, ...] = (2.0, 5.0, 15.0)
    suffering: tuple[float, ...] = (30.0, 120.0, 600.0)


def draw_scene(chance: Chance) -> Scene:
    """Return a random scene."""
    return Scene(
        settings=draw_settings(chance),
        carries=chance.happens(0.75),
        precision=chance.choice((0.0, 0.0, 1.0)),
        workers=chance.choice((1, 2, 2, 3, 4)),
        names=NAMES[: chance.randint(1, len(NAMES))],
    )


def draw_settings(chance: Chance) -> Settings:
    """Return random settings that are consistent with each other."""
    lease = chance.choice((6, 12, 30))
    return Settings(
        lease=timedelta(seconds=lease),
        beat=timedelta(seconds=lease / 3),
        sweep=timedelta(seconds=chance.choice((2, lease / 2))),
        grace=timedelta(seconds=chance.choice((1, 5))),
        watchdog_interval=timedelta(seconds=chance.choice((20, 60, 300))),
        horizon=timedelta(seconds=chance.choice((600, 3600, 86400))),
        retention=timedelta(seconds=chance.choice((900, 3600))),
        timeout=timedelta(seconds=chance.choice((20, 120))),
    )


NAMED = {
    "hourly": Scene(
        settings=Settings(
            lease=timedelta(seconds=60), beat=timedelta(seconds=20), sweep=timedelta(seconds=30)
        ),
        workers=3,
        hands=8,
        names=tuple(f"schedule-{number}" for number in range(20)),
        grid=Every("1h"),
        paces=(1800.0,),
        suffering=(36_000.0,),
    )
}
"""Worlds to measure by. Hourly: 20 hourly schedules, three workers, a fault every half hour."""
