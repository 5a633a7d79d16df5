"""Contracts of switches: an off switch stops every start of its target but manual runs."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.states import State
from sempre.ports.messages import Switch
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import ForgetfulBroker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, read, work_of

REJECT = Switch("deploy", "job:bill", reason="broken release")
HOLD = Switch("maintenance", "job:bill", "hold")


def test_a_rejected_slot_is_skipped_and_the_next_one_is_placed(store: Store) -> None:
    """The switch is the reason; other schedules go on."""
    shop = Workshop(store)
    [row] = shop.due().rows
    [other] = shop.due("other", job="mail").rows
    shop.store.switch(REJECT, off=True)

    assert [each.id for each in shop.worker().work_off()] == [other.id]

    skipped = read(store, row.id)
    assert (skipped.state, skipped.reason) == (State.SKIPPED, "switched off by deploy")
    assert shop.row().next_run_at == shop.ago(-30)


def test_a_held_slot_waits_and_is_not_skipped(store: Store) -> None:
    """The row is live and due, and no worker begins it."""
    shop = Workshop(store)
    [row] = shop.due().rows
    shop.store.switch(HOLD, off=True)

    assert shop.worker().work_off() == []

    held = read(store, row.id)
    assert held.is_untried
    assert shop.row().next_run_at == row.run_at


def test_a_held_slot_begins_when_the_switch_is_on_again(store: Store) -> None:
    """The late slot runs; then the schedule is back in the present."""
    shop = Workshop(store)
    shop.behind()
    worker = shop.worker()
    shop.store.switch(HOLD, off=True)
    assert worker.work_off() == []

    shop.store.switch(HOLD, off=False)

    assert shop.minutes_of(worker.work_off()) == [44]
    assert shop.row().next_run_at == shop.ago(-6)


def test_what_passed_while_a_slot_was_held_names_the_switch(store: Store) -> None:
    """A hold is downtime by decision: catch-up decides, and the record says why."""
    shop = Workshop(store)
    shop.behind()
    worker = shop.worker()
    shop.store.switch(HOLD, off=True)
    assert worker.work_off() == []

    shop.store.switch(HOLD, off=False)
    worker.work_off()

    assert [each.reason for each in shop.ranges()] == ["missed: held by maintenance"]


def test_a_rejected_retry_is_skipped(store: Store) -> None:
    """The next slot does not move."""
    shop = Workshop(store)
    retry = shop.tried(failures=1, retry=3)
    shop.store.switch(REJECT, off=True)

    assert shop.worker().work_off() == []

    assert read(store, retry.id).state is State.SKIPPED
    assert shop.row().next_run_at == shop.ago(-30)


def test_a_trigger_passes_every_switch(store: Store) -> None:
    """A person asked for the run."""
    shop = Workshop(store)
    shop.due()
    for switch in (REJECT, HOLD, Switch("all", "all", "hold")):
        shop.store.switch(switch, off=True)

    asked = shop.schedule().trigger()

    assert [row.id for row in shop.worker().work_off()] == [asked.id]


def test_a_switch_does_not_end_what_runs(store: Store) -> None:
    """The run finishes, and the result counts."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    shop.store.switch(REJECT, off=True)
    worker.beat()
    worker.end(row)

    assert worker.hands.asked == {}
    assert read(store, row.id).state is State.SUCCEEDED


def test_a_worker_that_knows_of_no_switch_starts_nothing_of_it(store: Store) -> None:
    """The store refuses, whatever switches the worker last read."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker()
    worker.beat()

    shop.store.switch(HOLD, off=True)
    worker.fetch(patience=0)

    assert worker.hands.begun == []


def test_new_work_is_rejected_with_a_receipt_that_says_so(store: Store) -> None:
    """The rejected work has no row."""
    shop = Workshop(store)
    shop.store.switch(REJECT, off=True)

    [receipt] = shop.store.enqueue([work_of(store, job="bill")])

    assert (receipt.created, receipt.rejected_by) == (False, "deploy")
    assert shop.worker().work_off() == []


def test_held_work_begins_when_the_switch_is_on_again(store: Store) -> None:
    """Work enqueued before the switch was off, and work enqueued meanwhile."""
    shop = Workshop(store)
    before = enqueued(shop.store, job="bill")
    shop.store.switch(HOLD, off=True)
    meanwhile = enqueued(shop.store, job="bill")
    worker = shop.worker()
    assert worker.work_off() == []

    shop.store.switch(HOLD, off=False)

    assert {row.id for row in worker.work_off()} == {before, meanwhile}


def test_work_that_was_put_in_before_waits_for_a_reject_too(store: Store) -> None:
    """One-off work has no later slot, so the work is kept."""
    shop = Workshop(store)
    mail = enqueued(shop.store, job="bill")
    shop.store.switch(REJECT, off=True)
    worker = shop.worker()
    assert worker.work_off() == []

    shop.store.switch(REJECT, off=False)

    assert [row.id for row in worker.work_off()] == [mail]


def test_tickets_of_held_slots_start_nothing(store: Store) -> None:
    """When the switch is on again the slot is begun, even without a ticket."""
    shop = Workshop(store)
    broker = ForgetfulBroker()
    worker = shop.worker(broker=broker)
    worker.turn()
    [row] = shop.due().rows
    worker.heal()
    shop.store.switch(HOLD, off=True)
    assert worker.work_off() == []

    shop.store.switch(HOLD, off=False)

    assert [each.id for each in shop.worker(broker=broker).work_off()] == [row.id]
