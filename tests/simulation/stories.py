"""Stories: small worlds for kept bugs that a random world seldom lets show.

Each is a test as well: it passes, as long as its bug is not put in.
"""

from collections.abc import Callable
from datetime import timedelta

from sempre.domain.states import Kind, State
from sempre.ports.executor import Ended
from sempre.ports.messages import Candidate, Reading
from sempre.testing.simulation.executors import Script
from tests.simulation.stories_of_declarations import STORIES_OF_DECLARATIONS
from tests.simulation.stories_of_lateness import STORIES_OF_LATENESS
from tests.simulation.worlds import LONG, SmallWorld

__all__ = ["STORIES"]


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


def a_cursor_stays_where_it_is_when_the_clock_is_set_back() -> None:
    world = SmallWorld()
    schedule = world.create()
    world.pass_for(100)
    before = schedule.row.cursor
    world.stage.step_clock(timedelta(seconds=-90))

    schedule.edit(limit=100)

    assert schedule.row.cursor == before


def what_was_settled_while_it_was_to_be_taken_back_stays_settled() -> None:
    world = SmallWorld(workers=2)
    world.premises.script = lambda _run: Script(100.0)
    world.operator.enqueue()
    world.pass_for(35)
    [holder] = [each for each in world.fleet.workers if each.executor.fences]
    holder.freeze(100)
    expired = world.store.expired

    def settled_meanwhile(limit: int) -> Reading[list[Candidate]]:
        found = expired(limit)
        if found.value:
            holder.frozen_until = 0
            holder.executor.hurry()
            world.stage.timeline.run_for(2)
        return found

    world.store.expired = settled_meanwhile  # type: ignore[method-assign]
    world.pass_for(60)

    [row] = world.rows(kind=Kind.ENQUEUED)
    assert row.state is State.SUCCEEDED, f"it is {row.state}"
    assert row.crashes == 0, "it was taken back"


def a_disable_takes_the_row_that_is_due_with_it() -> None:
    world = SmallWorld()
    schedule = world.create()
    world.pass_for(5)
    world.fleet.workers[0].freeze(100)
    world.pass_for(30)

    schedule.disable()

    assert [row.state for row in world.rows()] == [State.SKIPPED]


def what_fails_after_a_disable_is_not_tried_again() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: Script(20.0, Ended.FAILED)
    schedule = world.create(retry=3)
    world.pass_for(35)

    schedule.disable()
    world.pass_for(60)

    assert {row.state for row in world.rows()} == {State.FAILED, State.SUPERSEDED}


def a_deadline_counts_from_when_a_slot_is_due() -> None:
    world = SmallWorld()
    world.create(jitter="50s", deadline="2s")

    world.pass_for(600)

    assert world.rows(State.MISSED) == []
    assert len(world.rows(State.SUCCEEDED)) >= 9


def overlap_counts_when_a_slot_is_due() -> None:
    world = SmallWorld()
    schedule = world.create(jitter="50s")
    [row] = world.rows()
    world.premises.script = lambda _run: LONG
    world.pass_for((row.due_at - world.store.clock.now()).total_seconds() - 1)
    schedule.trigger()

    world.pass_for(10)

    [decided] = [each for each in world.rows() if each.id == row.id]
    assert (decided.state, decided.reason) == (State.SKIPPED, "overlap"), decided.state


def a_pause_until_an_instant_ends_by_itself() -> None:
    world = SmallWorld()
    world.create().pause(until=100)

    world.pass_for(200)

    assert len(world.rows(State.SUCCEEDED)) == 1


def what_a_broker_forgot_is_begun_by_a_sweep() -> None:
    world = SmallWorld()
    world.create()
    world.pass_for(10)
    world.exchange.flush()

    world.pass_for(40)

    assert world.starts() == 1, "nobody began it"


def enabling_what_is_enabled_moves_nothing() -> None:
    world = SmallWorld()
    schedule = world.create()
    before = schedule.row
    world.pass_for(10)

    schedule.enable()

    assert schedule.row == before, "it moved the cursor"


def what_a_dead_worker_held_is_taken_back_without_a_pass() -> None:
    world = SmallWorld(workers=2)
    world.premises.script = lambda _run: Script(100.0)
    world.create()
    world.pass_for(31)
    [holder] = [each for each in world.fleet.workers if each.executor.fences]

    holder.freeze(1000)
    world.pass_for(world.healing.leases)

    assert world.starts() == 2, "nobody took it back"


def a_slot_that_runs_needs_no_backfill() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: LONG
    schedule = world.create()
    world.pass_for(35)
    now = world.store.clock.now()

    schedule.backfill(now - timedelta(seconds=60), now)

    assert world.rows(kind=Kind.BACKFILL) == []


STORIES: dict[str, Callable[[], None]] = {
    **STORIES_OF_DECLARATIONS,
    **STORIES_OF_LATENESS,
    "the watchdog is seen to only when idle": a_fleet_that_is_never_idle_still_has_its_passes,
    "a disable forgets the row that is due": a_disable_takes_the_row_that_is_due_with_it,
    "a retry is born after a disable": what_fails_after_a_disable_is_not_tried_again,
    "the deadline is counted from the slot and not from when it is due": (
        a_deadline_counts_from_when_a_slot_is_due
    ),
    "overlap is judged by the slot and not by when it is due": overlap_counts_when_a_slot_is_due,
    "a pause until an instant never resumes": a_pause_until_an_instant_ends_by_itself,
    "nobody sweeps": what_a_broker_forgot_is_begun_by_a_sweep,
    "enabling what is enabled moves the cursor": enabling_what_is_enabled_moves_nothing,
    "only the pass takes leases back": what_a_dead_worker_held_is_taken_back_without_a_pass,
    "a slot that still runs is backfilled": a_slot_that_runs_needs_no_backfill,
    "the cursor goes back when the clock does": (
        a_cursor_stays_where_it_is_when_the_clock_is_set_back
    ),
    "what has expired is taken back without comparing": (
        what_was_settled_while_it_was_to_be_taken_back_stays_settled
    ),
}
