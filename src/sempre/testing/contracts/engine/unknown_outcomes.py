"""Contracts of unknown outcomes: a process that is gone, a lease that ran out.

The progress of such a run is unknown. The schedule's policy decides on the execution.
"""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import timedelta

from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.ports.executor import Ended
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, expire, hasten, read


def test_a_crash_is_run_again_after_a_wait_and_costs_no_retry(store: Store) -> None:
    """The execution keeps its id, at the second attempt."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.end(row, Ended.CRASHED, error="killed by SIGKILL")
    assert worker.turn() == []
    waiting = read(store, row.id)
    assert waiting.finished_at is not None
    assert waiting.due_at - waiting.finished_at == timedelta(seconds=1)
    hasten(store, row.id)
    [again] = worker.turn()

    assert (again.id, again.attempt, again.crashes, again.failures) == (row.id, 2, 1, 0)
    assert again.fence > row.fence
    worker.end(again)
    assert read(store, row.id).state is State.SUCCEEDED


def test_the_third_crash_is_quarantined(store: Store) -> None:
    """One-off or not; nothing is left that would crash another worker."""
    shop = Workshop(store)
    ids = {shop.due().rows[0].id, enqueued(shop.store)}
    worker = shop.worker(holding=True)
    for crash in range(3):
        if crash:
            hasten(store, *ids)
        begun = worker.turn()
        assert {row.id for row in begun} == ids
        for row in begun:
            worker.end(row, Ended.CRASHED, error="out of memory")

    assert worker.turn() == []
    for identity in ids:
        failed = read(store, identity)
        assert (failed.state, failed.crashes) == (State.FAILED, 3)
        assert failed.reason == "quarantined: out of memory"
    assert shop.row().next_run_at == shop.ago(-30)


def test_a_crash_of_what_is_not_rerun_has_failed(store: Store) -> None:
    """After the first crash, with an unknown outcome; the next slot still waits."""
    shop = Workshop(store)
    shop.due(on_unknown="skip", retry=3)
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.end(row, Ended.CRASHED, error="killed by SIGKILL")

    failed = read(store, row.id)
    assert (failed.state, failed.reason) == (State.FAILED, "unknown outcome: killed by SIGKILL")
    assert worker.turn() == []
    assert shop.row().next_run_at == shop.ago(-30)


def test_a_crash_of_what_holds_fails_it_and_pauses_its_schedule(store: Store) -> None:
    """The note names the execution; no further row of the schedule starts."""
    shop = Workshop(store)
    shop.behind(on_unknown="hold", catch_up=True)
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.end(row, Ended.CRASHED, error="killed by SIGKILL")

    assert read(store, row.id).state is State.FAILED
    pause = shop.row().pause
    assert pause is not None
    assert row.id in pause.note
    assert (pause.until, shop.row().next_run_at) == (None, None)
    assert worker.turn() == []


def test_a_schedule_that_was_held_runs_again_after_a_resume(store: Store) -> None:
    """Slots that passed meanwhile are recorded as paused, and not made up for."""
    shop = Workshop(store)
    shop.due(on_unknown="hold")
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    worker.end(row, Ended.CRASHED)

    shop.schedule().resume()

    assert shop.row().next_run_at == shop.ago(-30)
    assert read(store, row.id).state is State.FAILED


# Leases


def test_what_a_dead_worker_ran_is_run_by_another_one(store: Store) -> None:
    """Slots and one-off work, as soon as the lease is over."""
    shop = Workshop(store)
    shop.due()
    enqueued(shop.store)
    dead = shop.worker(holding=True)
    before = {row.id: row for row in dead.turn()}
    assert len(before) == 2
    expire(store, dead.heartbeat.session)
    other = shop.worker()

    other.heal()
    assert other.turn() == []
    hasten(store, *before)
    after = {row.id: row for row in other.turn()}

    assert after.keys() == before.keys()
    assert all(after[each].fence > before[each].fence for each in before)
    assert len(other.heard(Happened.RESCUED)) == 2
    assert {read(store, each).state for each in before} == {State.SUCCEEDED}


def test_a_lost_lease_costs_a_crash_and_not_a_failure(store: Store) -> None:
    """The slot has started once, on any worker."""
    shop = Workshop(store)
    shop.due()
    dead, other = shop.worker(holding=True), shop.worker(holding=True)
    [row] = dead.turn()
    expire(store, dead.heartbeat.session)

    other.heal()
    hasten(store, row.id)
    [again] = other.turn()

    assert (again.attempt, again.crashes, again.failures) == (2, 1, 0)
    assert shop.row().starts == 1


def test_what_a_living_worker_runs_is_not_taken_back(store: Store) -> None:
    """For any duration, while the worker sends heartbeats."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    running = shop.under_way(worker)
    other = shop.worker()

    other.heal()

    assert other.heard(Happened.RESCUED) == []
    worker.end(running)
    assert read(store, running.id).state is State.SUCCEEDED


def test_the_third_lost_lease_is_quarantined(store: Store) -> None:
    """A job that kills every worker kills three at most."""
    shop = Workshop(store)
    row = shop.tried(crashes=2)
    dead, other = shop.worker(holding=True), shop.worker()
    dead.turn()
    expire(store, dead.heartbeat.session)

    other.heal()

    failed = read(store, row.id)
    assert (failed.state, failed.reason) == (State.FAILED, "quarantined")
    assert other.turn() == []


def test_a_lost_lease_that_holds_pauses_its_schedule(store: Store) -> None:
    """An operator has to resume the schedule."""
    shop = Workshop(store)
    shop.due(on_unknown="hold")
    dead, other = shop.worker(holding=True), shop.worker()
    [row] = dead.turn()
    expire(store, dead.heartbeat.session)

    other.heal()

    assert read(store, row.id).reason == "unknown outcome"
    pause = shop.row().pause
    assert pause is not None
    assert row.id in pause.note
    assert shop.row().next_run_at is None


def test_a_result_that_comes_after_the_lease_is_kept_as_late(store: Store) -> None:
    """The current holder of the execution decides the outcome."""
    shop = Workshop(store)
    shop.due()
    slow, other = shop.worker(holding=True), shop.worker(holding=True)
    [row] = slow.turn()
    expire(store, slow.heartbeat.session)
    other.heal()
    hasten(store, row.id)
    [again] = other.turn()

    slow.end(row, result="slow")
    assert read(store, row.id).state is State.RUNNING
    other.end(again, result="quick")

    assert read(store, row.id).state is State.SUCCEEDED
    attempts = [(each.result, each.late) for each in store.attempts(row.id).value]
    assert ("slow", True) in attempts
    assert ("quick", False) in attempts


def test_a_worker_that_lost_its_lease_ends_what_it_runs_and_begins_anew(store: Store) -> None:
    """The progress is unknown, so the execution is run again, under a new session."""
    shop = Workshop(store)
    shop.due()
    slow = shop.worker(holding=True)
    [row] = slow.turn()
    lost = slow.heartbeat.session
    store.retire(lost)

    slow.beat()
    assert slow.hands.asked == {row.id: "the lease was lost"}
    assert [event.facts["session"] for event in slow.heard(Happened.SESSION_LOST)] == [lost]
    slow.end(row, Ended.CANCELLED, error="the lease was lost")
    slow.heal()

    assert slow.heartbeat.session not in ("", lost)
    hasten(store, row.id)
    [again] = slow.turn()
    assert (again.id, again.session, again.crashes) == (row.id, slow.heartbeat.session, 1)


def test_a_run_that_outlives_its_lease_has_no_say_in_the_next_one_of_the_same_worker(
    store: Store,
) -> None:
    """A thread cannot be ended: the old run may go on when the worker begins the next attempt."""
    shop = Workshop(store)
    shop.due()
    slow, other = shop.worker(holding=True), shop.worker(hands=0)
    [row] = slow.turn()
    store.retire(slow.heartbeat.session)
    slow.beat()
    other.heal()
    hasten(store, row.id)
    [again] = slow.turn()
    assert again.id == row.id

    slow.hands.asked.clear()
    slow.beat()
    assert slow.hands.asked == {}
    slow.end(row, Ended.CANCELLED, error="the lease was lost")
    assert read(store, row.id).state is State.RUNNING
    slow.end(again, result="done")

    assert read(store, row.id).state is State.SUCCEEDED
    late = [each.fence for each in store.attempts(row.id).value if each.late]
    assert late == [row.fence]
