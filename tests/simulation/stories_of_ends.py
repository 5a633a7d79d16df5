"""Stories of ends: small worlds in which workers stop or crash in mid run."""

from itertools import pairwise

from sempre.domain.states import State
from sempre.ports.executor import Ended
from sempre.testing.simulation.clock import MICROSECONDS
from sempre.testing.simulation.executors import Script
from tests.simulation.stories import STORIES
from tests.simulation.worlds import LONG, SmallWorld

__all__: list[str] = []


def a_deploy_does_not_run_again_what_is_to_be_held() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: LONG
    schedule = world.create(on_unknown="hold")
    world.pass_for(35)

    world.fleet.workers[0].retire()
    world.pass_for(100)

    assert world.starts() == 1, f"it began {world.starts()} times"
    assert [row.state for row in world.rows(State.FAILED)] == [State.FAILED]
    assert schedule.row.pause is not None, "its schedule goes on"


def a_culprit_crashes_alone_and_its_neighbour_ends_well() -> None:
    world = SmallWorld()
    scripts = {"culprit": Script(5.0, kills=True), "neighbour": Script(8.0)}
    world.premises.script = lambda run: scripts[run.execution.snapshot.name]
    for name in scripts:
        world.create(name, limit=1)

    world.pass_for(600)

    rows = {row.snapshot.name: row for row in world.rows()}
    neighbour, culprit = rows["neighbour"], rows["culprit"]
    told = f"the neighbour is {neighbour.state}, after {neighbour.crashes} crashes"
    assert (neighbour.state, neighbour.crashes) == (State.SUCCEEDED, 1), told
    assert (culprit.state, culprit.reason, culprit.crashes) == (State.FAILED, "quarantined", 3)


def a_rerun_waits_longer_after_each_crash() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: Script(1.0, Ended.CRASHED)
    world.create(limit=1)

    world.pass_for(120)

    began = [each.at / MICROSECONDS for each in world.effects.starts.values()]
    waits = [later - earlier - 1.0 for earlier, later in pairwise(began)]
    assert len(waits) == 2, f"it began {len(began)} times"
    assert waits[0] >= 1, f"the first rerun waited {waits[0]:.2f} s"
    assert waits[1] >= 10, f"the second rerun waited {waits[1]:.2f} s"


STORIES |= {
    "what was in flight when a process died runs again beside others": (
        a_culprit_crashes_alone_and_its_neighbour_ends_well
    ),
    "a crash is run again without a wait": a_rerun_waits_longer_after_each_crash,
    "a run that a stop cut off is given back as if it had not begun": (
        a_deploy_does_not_run_again_what_is_to_be_held
    ),
}
