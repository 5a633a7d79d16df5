"""Stories of lateness: what waits for a long run, and what is hardly late after a downtime."""

from collections.abc import Callable
from datetime import timedelta

from sempre.domain.states import State
from sempre.testing.simulation.executors import Script
from tests.simulation.worlds import QUICK, SmallWorld

__all__ = ["STORIES_OF_LATENESS"]


def slots_that_wait_for_a_long_run_all_run() -> None:
    world = SmallWorld()
    scripts = iter([Script(400.0)])
    world.premises.script = lambda _run: next(scripts, QUICK)
    world.create(overlap="wait")

    world.pass_for(500)

    assert world.store.tables.ranges == [], "slots that waited were missed"
    assert len(world.rows(State.SUCCEEDED)) >= 7


def what_was_under_way_when_all_workers_died_does_not_bring_the_slots_back() -> None:
    world = SmallWorld()
    scripts = iter([Script(50.0)])
    world.premises.script = lambda _run: next(scripts, QUICK)
    world.create(overlap="wait")
    world.pass_for(40)
    [worker] = world.fleet.workers

    worker.freeze(600)
    world.pass_for(700)

    assert world.store.tables.ranges, "the slots of a downtime were made up for"


def todays_slot_runs_after_a_downtime() -> None:
    world = SmallWorld()
    world.create()
    [worker] = world.fleet.workers
    worker.freeze(400)

    world.pass_for(500)

    [missed] = world.store.tables.ranges
    [row] = [row for row in world.rows() if row.run_at == missed.last + timedelta(minutes=1)]
    assert row.started_at is not None, f"it is {row.state}"
    assert row.started_at - row.run_at > timedelta(seconds=1), "no slot was within the tolerance"


STORIES_OF_LATENESS: dict[str, Callable[[], None]] = {
    "the time that a slot waits for a run counts as lateness": (
        slots_that_wait_for_a_long_run_all_run
    ),
    "a lost attempt ended when it was found": (
        what_was_under_way_when_all_workers_died_does_not_bring_the_slots_back
    ),
    "what is within tolerance is given up after a downtime": todays_slot_runs_after_a_downtime,
}
