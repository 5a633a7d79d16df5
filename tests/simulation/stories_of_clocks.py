"""Stories of clocks: the store's clock jumps an hour ahead for twenty seconds, and comes back."""

from collections import Counter
from datetime import timedelta

from sempre.domain.states import Kind, State
from sempre.engine.events import Event, Happened
from sempre.testing.simulation.executors import Script
from tests.simulation.stories import STORIES
from tests.simulation.worlds import SmallWorld

__all__: list[str] = []

JUMP = timedelta(hours=1)


def _jump_and_back(world: SmallWorld) -> None:
    world.stage.step_clock(JUMP)
    world.pass_for(20)
    world.stage.step_clock(-JUMP)


def every_slot_after_a_jump_runs_within_a_pass() -> None:
    world = SmallWorld(workers=2)
    schedule = world.create()
    world.pass_for(100)
    _jump_and_back(world)
    assert schedule.row.cursor > world.store.clock.now() + JUMP / 2

    world.pass_for(60)
    since = world.store.clock.now()
    world.pass_for(600)

    now = world.store.clock.now()
    assert schedule.row.cursor <= now, "the cursor is still ahead"
    done = world.rows(State.SUCCEEDED)
    ran = sorted(row.run_at for row in done if since < row.run_at <= now - timedelta(seconds=30))
    wanted = schedule.definition.grid.between(since, now - timedelta(seconds=30))
    assert ran == wanted, f"{len(ran)} of {len(wanted)} slots ran"
    slots = Counter(start.execution.run_at for start in world.effects.starts.values())
    assert max(slots.values()) == 1, "a slot ran twice"


def nothing_is_given_up_within_a_lease_of_a_jump() -> None:
    world = SmallWorld(workers=2)
    world.premises.script = lambda _run: Script(60.0)
    heard: list[Event] = []
    for worker in world.fleet.workers:
        worker.worker.engine.events.listen(heard.append, Happened.SESSION_LOST, Happened.RESCUED)
    world.operator.enqueue()
    world.pass_for(15)
    assert world.rows(State.RUNNING, kind=Kind.ENQUEUED)

    _jump_and_back(world)
    world.pass_for(80)

    assert heard == [], "a session was given up"
    assert world.starts() == 1, f"it was started {world.starts()} times"
    [row] = world.rows(kind=Kind.ENQUEUED)
    assert (row.state, row.crashes) == (State.SUCCEEDED, 0)


def a_worker_that_dies_after_a_jump_is_missed_within_a_pass() -> None:
    world = SmallWorld(workers=2)
    world.premises.script = lambda _run: Script(60.0)
    world.operator.enqueue()
    world.pass_for(15)
    [holder] = [each for each in world.fleet.workers if each.executor.fences]
    world.stage.step_clock(JUMP)
    world.pass_for(20)
    holder.die()
    world.stage.step_clock(-JUMP)

    world.pass_for(330 + 300 + 30)

    [row] = world.rows(kind=Kind.ENQUEUED)
    assert row.crashes == 1, "what the dead worker ran was not taken back"


STORIES |= {
    "a cursor stays in the future when the clock comes back": (
        every_slot_after_a_jump_runs_within_a_pass
    ),
    "a session that expired by the clock is given up": (
        nothing_is_given_up_within_a_lease_of_a_jump
    ),
    "leases are taken back right after a jump": nothing_is_given_up_within_a_lease_of_a_jump,
    "a lease given ahead is kept": a_worker_that_dies_after_a_jump_is_missed_within_a_pass,
}
