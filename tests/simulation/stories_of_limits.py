"""Stories of limits: small worlds in which much work waits for little room."""

from sempre.domain.limits import Concurrency
from sempre.domain.states import State
from sempre.testing.simulation.executors import Script
from tests.simulation.stories import STORIES
from tests.simulation.worlds import SmallWorld

__all__: list[str] = []

ONE = Concurrency(1, tag="smtp")


def runs_of_a_full_limit_follow_each_other_without_a_pause() -> None:
    world = SmallWorld(workers=2)
    world.premises.script = lambda _run: Script(2.0)
    for number in range(8):
        world.create(f"bill-{number}", limits=[ONE], overlap="wait", every=300)

    world.pass_for(300)

    ended = world.rows(State.SUCCEEDED)
    assert len(ended) == 8, f"{len(ended)} runs ended"
    began = sorted(row.started_at for row in ended if row.started_at)
    took = (began[-1] - began[0]).total_seconds()
    assert took < 20, f"eight runs of two seconds took {took:.0f} s"


STORIES |= {
    "a limit counts one run too few": runs_of_a_full_limit_follow_each_other_without_a_pause,
    "claims ignore limits": runs_of_a_full_limit_follow_each_other_without_a_pause,
    "nobody frees what waits for a limit": runs_of_a_full_limit_follow_each_other_without_a_pause,
    "an end opens no limit": runs_of_a_full_limit_follow_each_other_without_a_pause,
}
