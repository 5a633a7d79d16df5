"""Stories of a worker that cannot read some rows, beside which everything else goes on."""

from sempre.domain.states import Kind, State
from sempre.testing.unreadable import BlindStore
from tests.simulation.stories import STORIES
from tests.simulation.worlds import SmallWorld

__all__: list[str] = []

REASON = "a newer release has written it."


def _blind(world: SmallWorld) -> BlindStore:
    """Return what the only worker sees of the store, so that it can be made unable to read."""
    [worker] = world.fleet.workers
    seen = BlindStore(world.store)
    worker.engine.store._store = seen  # type: ignore[attr-defined]  # noqa: SLF001
    return seen


def _succeeded(world: SmallWorld, name: str) -> int:
    rows = world.rows(State.SUCCEEDED)
    return sum(row.snapshot.name == name for row in rows)


def every_other_schedule_keeps_its_time() -> None:
    world = SmallWorld(carries=False)
    new, _ = world.create("new"), world.create("old")
    world.pass_for(5)
    seen = _blind(world)
    seen.blind["schedules", new.row.id] = REASON

    world.pass_for(400)

    assert _succeeded(world, "old") >= 6, f"{_succeeded(world, 'old')} slots of the other ran"
    assert _succeeded(world, "new") == 0, "it ran, though nobody could read its schedule"
    done = world.store.last_pass().value.finished_at
    assert done is not None, "no pass was ever made"
    seen.blind.clear()
    world.pass_for(100)
    assert _succeeded(world, "new") >= 1, "it does not run though all can read it again"


def a_next_row_that_cannot_be_read_stays_the_only_one() -> None:
    world = SmallWorld(carries=False)
    new, _ = world.create("new"), world.create("old")
    [row] = [each for each in world.rows() if each.snapshot.name == "new"]
    seen = _blind(world)
    seen.blind["executions", row.id] = REASON

    world.pass_for(400)

    own = [each for each in world.rows() if each.snapshot.name == "new"]
    assert [(each.id, each.state) for each in own] == [(row.id, row.state)]
    assert new.row.next_run_at == row.run_at
    report = world.store.last_pass().value.report
    assert report["schedules_failed"] == 0, "somebody wants to give it another one"
    assert _succeeded(world, "old") >= 6


def work_that_cannot_be_read_is_not_claimed() -> None:
    world = SmallWorld(carries=False)
    seen = _blind(world)
    world.operator.enqueue()
    [row] = world.rows(kind=Kind.ENQUEUED)
    seen.blind["executions", row.id] = REASON
    world.create("old")

    world.pass_for(200)

    [after] = world.rows(kind=Kind.ENQUEUED)
    assert after.is_untried, f"it is {after.state}"
    assert _succeeded(world, "old") >= 3


def many_that_cannot_be_read_hide_no_slot() -> None:
    world = SmallWorld(carries=False, hands=1)
    names = [f"new-{number}" for number in range(5)]
    created = [world.create(name, priority=1) for name in names]
    world.create("old", priority=5000)
    seen = _blind(world)
    seen.blind = {("schedules", each.row.id): REASON for each in created}

    world.pass_for(400)

    assert _succeeded(world, "old") >= 6, f"{_succeeded(world, 'old')} slots of the other ran"


STORIES |= {
    "one row that cannot be read stops its batch": every_other_schedule_keeps_its_time,
    "what runs does so without a schedule that cannot be read": every_other_schedule_keeps_its_time,
    "a next row that cannot be read counts as missing": (
        a_next_row_that_cannot_be_read_stays_the_only_one
    ),
    "what cannot be read is claimed all the same": work_that_cannot_be_read_is_not_claimed,
    "what cannot be read hides the slots behind it": many_that_cannot_be_read_hide_no_slot,
}
