"""Stories: small worlds for kept bugs that a random world seldom lets show.

Each is a test as well: it passes, as long as its bug is not put in.
"""

from collections.abc import Callable

from tests.simulation.worlds import LONG, SmallWorld

__all__ = ["STORIES", "a_fleet_that_is_never_idle_still_has_its_passes"]


def a_fleet_that_is_never_idle_still_has_its_passes() -> None:
    world = SmallWorld(hands=1)
    world.premises.script = lambda _run: LONG
    for name in ("one", "two", "three"):
        world.create(name, overlap="allow")
    world.pass_for(300)
    world.exchange.flush()

    world.pass_for(600)

    done = world.store.last_pass().value.finished_at
    assert done is not None, "no pass was ever made"
    late = (world.store.clock.now() - done).total_seconds()
    assert late < 330, f"the last pass was made {late:.0f} s ago"


STORIES: dict[str, Callable[[], None]] = {
    "the watchdog is seen to only when idle": a_fleet_that_is_never_idle_still_has_its_passes,
}
