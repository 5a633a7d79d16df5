"""Stories of ends: small worlds in which workers stop or crash in mid run."""

from itertools import pairwise

from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.ports.executor import Ended
from sempre.testing.simulation.clock import MICROSECONDS
from sempre.testing.simulation.executors import Script
from tests.simulation.stories import STORIES
from tests.simulation.worlds import LONG, QUICK, SmallWorld

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


def a_job_that_asks_for_later_tries_is_tried_until_it_succeeds() -> None:
    world = SmallWorld()
    scripts = iter([Script(1.0, Ended.RETRY_LATER)] * 5)
    world.premises.script = lambda _run: next(scripts, QUICK)
    world.create(limit=1, retry=1)

    world.pass_for(120)

    [row] = [row for row in world.rows() if row.attempt]
    told = f"it {row.state} after {row.attempt} attempts: {row.reason}"
    assert (row.state, row.attempt, row.failures) == (State.SUCCEEDED, 6, 0), told


def a_job_that_gives_up_is_not_tried_again() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: Script(1.0, Ended.GAVE_UP)
    world.create(limit=1, retry=5)

    world.pass_for(120)

    assert world.starts() == 1, f"it began {world.starts()} times"


def a_type_that_is_never_tried_again_is_not() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: Script(1.0, Ended.FAILED, raises=ConnectionResetError)
    world.create(limit=1, retry=Retry(5, never=OSError))

    world.pass_for(120)

    assert world.starts() == 1, f"it began {world.starts()} times"


def a_retry_with_jitter_waits_for_its_base_at_least() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: Script(1.0, Ended.FAILED)
    world.create(limit=1, retry=Retry(3, base="30s", cap="30s", jitter="10s"))

    world.pass_for(300)

    began = [each.at / MICROSECONDS for each in world.effects.starts.values()]
    waits = [later - earlier - 1.0 for earlier, later in pairwise(began)]
    assert len(waits) == 3, f"it began {len(began)} times"
    assert min(waits) >= 30, f"it waited {waits}"


STORIES |= {
    "a later try uses up a retry": a_job_that_asks_for_later_tries_is_tried_until_it_succeeds,
    "what gave up is tried again": a_job_that_gives_up_is_not_tried_again,
    "a failure is tried again whatever its type": a_type_that_is_never_tried_again_is_not,
    "the jitter of a retry shortens its wait": a_retry_with_jitter_waits_for_its_base_at_least,
    "what was in flight when a process died runs again beside others": (
        a_culprit_crashes_alone_and_its_neighbour_ends_well
    ),
    "a crash is run again without a wait": a_rerun_waits_longer_after_each_crash,
    "a run that a stop cut off is given back as if it had not begun": (
        a_deploy_does_not_run_again_what_is_to_be_held
    ),
}
