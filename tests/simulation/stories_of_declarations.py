"""Stories of deploys: the releases of one owner start in an awkward order."""

from collections.abc import Callable

from sempre.app.schedules.creation import Declared
from sempre.domain.definition import define
from sempre.grids import Every
from tests.simulation.worlds import SmallWorld

__all__ = ["STORIES_OF_DECLARATIONS"]

OLD, NEW = ("apples", "bread"), ("apples", "cheese")


def _start(world: SmallWorld, names: tuple[str, ...], *, release: int) -> None:
    definition = define(job="bill", grid=Every(60), owner="shop")
    wanted = [Declared(name, definition) for name in names]
    world.declare(*wanted, release=release, owner="shop")


def _judge(world: SmallWorld, *expected: str) -> None:
    schedules = world.store.tables.schedules.values()
    enabled = sorted(each.name for each in schedules if each.definition.enabled)
    assert enabled == sorted(expected), f"enabled are {enabled}"


def an_older_release_that_starts_again_disables_nothing_of_a_newer_one() -> None:
    world = SmallWorld()
    for names, release in ((OLD, 1), (NEW, 2), (OLD, 1)):
        _start(world, names, release=release)
        world.pass_for(60)

    _judge(world, *NEW)


def code_that_is_rolled_back_runs_all_that_it_declares() -> None:
    world = SmallWorld()
    for names in (OLD, NEW, OLD):
        _start(world, names, release=0)
        world.pass_for(60)

    _judge(world, *OLD)


STORIES_OF_DECLARATIONS: dict[str, Callable[[], None]] = {
    "a deploy disables what a newer release declares": (
        an_older_release_that_starts_again_disables_nothing_of_a_newer_one
    ),
    "what a deploy disabled is never enabled again": (
        code_that_is_rolled_back_runs_all_that_it_declares
    ),
    "an older release enables what a newer one dropped": (
        an_older_release_that_starts_again_disables_nothing_of_a_newer_one
    ),
}
