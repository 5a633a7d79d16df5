"""Contracts of overlap: a slot that became due while an earlier execution was running."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.engine.events import Happened
from sempre.grids import Every
from sempre.ports.executor import Ended
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import hasten, read


def _slot(shop: Workshop) -> Execution:
    """Return the row whose slot was half an hour ago."""
    [row] = [row for row in shop.rows() if shop.minutes(row.run_at) == 30]
    return row


def test_a_slot_that_overlaps_is_skipped_and_the_next_one_is_placed(store: Store) -> None:
    """The row holds the reason; the earlier run goes on."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="skip")

    assert worker.turn() == []

    skipped = _slot(shop)
    assert (skipped.state, skipped.reason) == (State.SKIPPED, "overlap")
    assert shop.row().next_run_at == shop.ago(-30)
    worker.end(running)
    assert read(store, running.id).state is State.SUCCEEDED
    assert worker.hands.asked == {}


def test_a_slot_that_came_during_an_earlier_attempt_is_skipped_when_the_next_one_begins(
    store: Store,
) -> None:
    """In one operation, for the row records only the latest attempt; and the skip is reported."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="skip")
    worker.end(running, Ended.CRASHED)
    hasten(store, running.id)

    assert [row.id for row in worker.turn()] == [running.id]

    skipped = _slot(shop)
    assert (skipped.state, skipped.reason) == (State.SKIPPED, "overlap")
    assert shop.row().next_run_at == shop.ago(-30)
    [told] = worker.heard(Happened.SKIPPED)
    assert (told.facts["execution"].id, told.facts["reason"]) == (skipped.id, "overlap")


def test_a_slot_that_waits_begins_when_the_earlier_one_ends(store: Store) -> None:
    """Not earlier, by any worker; and then at the next query of any worker."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="wait")

    assert worker.turn() == []
    assert shop.worker(holding=True).turn() == []
    assert _slot(shop).is_untried
    worker.end(running)

    assert [row.id for row in worker.turn()] == [_slot(shop).id]


def test_slots_that_wait_for_a_long_run_are_delayed_and_none_is_missed(store: Store) -> None:
    """The wait for an earlier run is not downtime, for this slot and for later slots."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="wait", grid=Every("10m", anchor=shop.ago(34)))
    worker.end(running)
    seen = []

    while begun := worker.turn():
        [execution] = begun
        seen.append(shop.minutes(execution.run_at))
        worker.end(execution)

    assert seen == [34, 24, 14, 4]
    assert shop.ranges() == []


def test_a_slot_that_allows_overlap_runs_beside_the_earlier_one(store: Store) -> None:
    """Each run has a different fence."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="allow")

    [begun] = worker.turn()

    assert begun.id == _slot(shop).id
    assert begun.fence > running.fence
    worker.end(running)
    worker.end(begun)
    assert {read(store, each.id).state for each in (running, begun)} == {State.SUCCEEDED}


def test_a_slot_that_replaces_takes_over_under_a_higher_fence(store: Store) -> None:
    """The older run is cancelled in that operation and names the newer run."""
    shop = Workshop(store)
    older, newer = shop.worker(holding=True), shop.worker(holding=True)
    running = shop.under_way(older, overlap="replace")

    [begun] = newer.turn()

    assert begun.fence > running.fence
    replaced = read(store, running.id)
    assert (replaced.state, replaced.reason) == (State.CANCELLED, f"replaced by {begun.id}")


def test_a_replaced_run_is_told_at_the_next_beat(store: Store) -> None:
    """The worker asks the replaced run to end; the new run is left alone."""
    shop = Workshop(store)
    older, newer = shop.worker(holding=True), shop.worker(holding=True)
    running = shop.under_way(older, overlap="replace")
    newer.turn()

    older.beat()
    newer.beat()

    assert older.hands.asked == {running.id: "it is no longer ours"}
    assert newer.hands.asked == {}


def test_a_late_result_of_a_replaced_run_is_kept_as_late(store: Store) -> None:
    """The late result changes neither row, but can be read."""
    shop = Workshop(store)
    older, newer = shop.worker(holding=True), shop.worker(holding=True)
    running = shop.under_way(older, overlap="replace")
    [begun] = newer.turn()

    older.end(running, result={"sent": 7})

    assert read(store, running.id).state is State.CANCELLED
    assert read(store, begun.id).state is State.RUNNING
    late = [each for each in store.attempts(running.id).value if each.late]
    assert [(each.fence, each.result) for each in late] == [(running.fence, {"sent": 7})]
    assert len(older.heard(Happened.LATE_RESULT)) == 1
    newer.end(begun)
    assert read(store, begun.id).state is State.SUCCEEDED


def test_a_slot_that_came_too_late_waits_instead_of_being_skipped(store: Store) -> None:
    """The row was placed after its own due_at, so the slot cannot have overlapped."""
    shop = Workshop(store)
    shop.behind(catch_up=True, overlap="skip")
    worker = shop.worker(holding=True)
    [first] = worker.turn()

    assert worker.turn() == []
    worker.end(first)

    assert shop.minutes_of(worker.turn()) == [34]


def test_a_manual_run_never_skips_but_waits(store: Store) -> None:
    """Two manual runs run one after the other."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker, overlap="skip")
    asked = [shop.schedule().trigger().id for _ in range(2)]

    assert worker.turn() == []
    worker.end(running)
    [first] = worker.turn()
    assert worker.turn() == []
    worker.end(first)
    [second] = worker.turn()

    assert {first.id, second.id} == set(asked)
    assert first.kind is second.kind is Kind.MANUAL


def test_rows_that_wait_for_others_hide_nobody(store: Store) -> None:
    """With any number of rows in front by priority, and few free places."""
    shop = Workshop(store)
    busy, free = shop.worker(hands=20, holding=True), shop.worker(hands=1)
    for number in range(12):
        shop.under_way(busy, f"waiting-{number}", overlap="wait")
    [row] = shop.due("free", priority=5000).rows

    assert [each.id for each in free.turn()] == [row.id]


def test_rows_that_waited_are_begun_by_no_more_hands_than_there_are(store: Store) -> None:
    """Even if all rows may begin at once."""
    shop = Workshop(store)
    busy, free = shop.worker(hands=20, holding=True), shop.worker(hands=2, holding=True)
    running = [shop.under_way(busy, f"waiting-{number}", overlap="wait") for number in range(6)]
    assert free.turn() == []
    assert free.turn() == []
    for each in running:
        busy.end(each)

    free.turn()

    states = [read(store, each.id).state for each in _waited(shop)]
    assert states.count(State.RUNNING) == 2


def _waited(shop: Workshop) -> list[Execution]:
    """Return the row of each schedule whose slot was half an hour ago."""
    rows = [row for number in range(6) for row in shop.rows(f"waiting-{number}")]
    return [row for row in rows if shop.minutes(row.run_at) == 30]
