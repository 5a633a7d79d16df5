"""Stories of brokers: what a message may not decide, and what a deaf broker may not delay."""

from datetime import timedelta

from sempre.config import Settings
from sempre.domain.states import State
from sempre.engine.tickets import SCHEDULER_QUEUE, WatchdogCall
from sempre.ports.broker import Message
from tests.simulation.stories import STORIES
from tests.simulation.worlds import SmallWorld

__all__: list[str] = []

YEAR = timedelta(days=365)


def messages_of_other_settings_give_way_to_one_message() -> None:
    world = SmallWorld(workers=2)
    lane = world.person.engine.bell.lane(SCHEDULER_QUEUE)
    for interval in (3, 5, int(YEAR.total_seconds())):
        world.exchange.inner.put([Message(lane, WatchdogCall(interval).to_text())])

    world.pass_for(700)

    bodies = world.exchange.inner.bodies()
    calls = [body for body in bodies if "scheduler" in body]
    assert calls == [WatchdogCall(300).to_text()], f"there are {calls}"
    assert world.exchange.inner.copies(calls[0]) == 1, "there is more than one"
    assert world.exchange.inner.has_any(lane)


def a_pass_that_is_due_in_a_year_is_made_now() -> None:
    world = SmallWorld()
    world.pass_for(5)
    world.store.tables.maintenance = None
    assert world.store.begin_pass(holder="mistaken", every=YEAR)

    world.pass_for(60)

    reading = world.store.last_pass()
    late = (reading.value.due_at - reading.now).total_seconds()
    assert late <= 300, f"the next pass is due in {late:.0f} s"


def a_broker_that_delivers_nothing_delays_nothing_for_long() -> None:
    world = SmallWorld(workers=2)
    world.create(every=10)
    world.pass_for(60)

    world.stage.broker_deaf_until = world.stage.later(300)
    world.pass_for(40)
    known = world.store.clock.now()
    world.pass_for(500)

    starts = [row for row in world.judge.starts if row.due_at > known]
    latest = max((row.started_at or known) - row.due_at for row in starts)
    assert latest < timedelta(seconds=2), f"a start was {latest.total_seconds():.1f} s late"
    assert len(starts) == len({row.run_at for row in starts}) == 50
    assert not any(worker.engine.bell.deaf for worker in world.fleet.workers), "it stays deaf"
    assert world.rows(State.MISSED) == []


def a_sweep_goes_on_until_nothing_is_due() -> None:
    # With so much grace nobody calls a broker deaf: the sweeps alone have to find the work.
    world = SmallWorld(settings=Settings(grace=timedelta(hours=1)))
    world.create(every=1)
    world.pass_for(40)
    before = world.starts()

    world.stage.broker_deaf_until = world.stage.later(90)
    world.pass_for(90)

    begun = world.starts() - before
    assert begun >= 70, f"{begun} of 90 slots ran"


def a_schedule_that_is_edited_at_every_reading_starts_every_slot_in_time() -> None:
    for carries in (True, False):
        world = SmallWorld(carries=carries, workers=2)
        world.edit_at_every_reading(world.create(every=10))

        world.pass_for(301)

        late = [row.started_at - row.due_at for row in world.judge.starts if row.started_at]
        assert len(late) == 30, f"{len(late)} of 30 slots ran"
        latest = max(late).total_seconds()
        assert latest < 1, f"a start was {latest:.1f} s late"


STORIES |= {
    "a watchdogs message comes again as it is": messages_of_other_settings_give_way_to_one_message,
    "a pass believes every due date": a_pass_that_is_due_in_a_year_is_made_now,
    "a broker that delivers nothing is believed": (
        a_broker_that_delivers_nothing_delays_nothing_for_long
    ),
    "a sweep takes one slot of a schedule": a_sweep_goes_on_until_nothing_is_due,
    "a claim that edits refuse waits for the sweep": (
        a_schedule_that_is_edited_at_every_reading_starts_every_slot_in_time
    ),
}
