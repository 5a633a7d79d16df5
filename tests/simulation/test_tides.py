"""What brokers do to a worker that the store protects it from, each as a small story."""

from sempre.domain.states import State
from sempre.engine.tickets import Ticket
from sempre.engine.watchdog import Watchdog
from sempre.testing.simulation.faults import Faults
from tests.simulation.worlds import LONG, SmallWorld


def test_a_ticket_is_let_go_of_when_its_row_is_claimed_and_not_when_it_ends() -> None:
    world = SmallWorld()
    world.premises.script = lambda _run: LONG
    world.create()

    world.pass_for(35)

    [running] = world.rows(State.RUNNING)
    ticket = Ticket(world.store.uuid, running.id, 0).to_text()
    assert ticket not in world.exchange.inner.bodies()


def test_a_slot_starts_though_its_lane_is_never_empty_of_tickets_that_say_nothing() -> None:
    world = SmallWorld()
    schedule = world.create(priority=5000)
    # It takes time to open a ticket, and there are always more of them.
    world.stage.faults = Faults(latency=1.0)
    world.flood(schedule.row.definition.queue)

    world.pass_for(120)

    assert world.rows(State.SUCCEEDED)


def test_when_nothing_is_heard_of_a_ticket_the_next_sweep_begins_its_row() -> None:
    world = SmallWorld()
    world.create()
    world.pass_for(10)
    world.exchange.flush()

    world.pass_for(40)

    [row] = world.rows(State.SUCCEEDED)
    assert row.started_at is not None
    settings = world.stage.settings
    assert row.started_at - row.due_at <= settings.grace + settings.sweep


def test_a_pass_that_finds_all_well_writes_no_row_of_a_schedule_or_execution() -> None:
    world = SmallWorld()
    for name in ("one", "two", "three"):
        world.create(name)
    world.pass_for(10)
    tables = world.store.tables
    before = {**tables.schedules, **tables.executions}

    report = Watchdog(world.person.engine).force()

    assert report.schedules_processed == 3
    after = {**tables.schedules, **tables.executions}
    assert {key: id(row) for key, row in after.items()} == {
        key: id(row) for key, row in before.items()
    }
