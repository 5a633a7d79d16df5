"""Contracts of failure: tried again after a longer and longer wait, timed out, cancelled."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.ports.executor import Ended
from sempre.ports.messages import Cancelled
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, now_of, read

RETRY = Retry(2, base="10s", cap="10m")
SECOND = timedelta(seconds=1)


def test_a_failure_without_retry_is_final(store: Store) -> None:
    """The error is the reason; the next slot still waits."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.end(row, Ended.FAILED, error="ValueError: no such region")

    failed = read(store, row.id)
    assert (failed.state, failed.reason) == (State.FAILED, "error: ValueError: no such region")
    assert worker.turn() == []
    assert [each.state for each in shop.rows()] == [State.FAILED, State.SCHEDULED]


def test_a_failure_is_tried_again_after_the_base(store: Store) -> None:
    """The slot stays; only the start moves. The event holds the new start."""
    shop = Workshop(store)
    shop.due(retry=RETRY)
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    before = now_of(store)

    worker.end(row, Ended.FAILED, error="OSError: refused")

    again = read(store, row.id)
    assert (again.state, again.failures, again.attempt) == (State.SCHEDULED, 1, 1)
    assert again.run_at == row.run_at
    assert before - SECOND <= again.due_at - 10 * SECOND <= now_of(store) + SECOND
    [told] = worker.heard(Happened.FAILED)
    assert told.facts["retry_at"] == again.due_at


def test_a_retry_does_not_begin_before_its_wait_is_over(store: Store) -> None:
    """No worker begins the retry earlier."""
    shop = Workshop(store)
    shop.due(retry=Retry(2, base="10m"))
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    worker.end(row, Ended.FAILED)

    assert worker.turn() == []
    assert shop.worker().turn() == []


def test_a_second_failure_waits_twice_as_long(store: Store) -> None:
    """Counted by failures, not by attempts: a crash in between costs nothing."""
    shop = Workshop(store)
    row = shop.tried(failures=1, crashes=1, retry=RETRY)
    worker = shop.worker(holding=True)
    [begun] = worker.turn()
    before = now_of(store)

    worker.end(begun, Ended.FAILED)

    again = read(store, row.id)
    assert (again.failures, again.attempt) == (2, 3)
    assert before - SECOND <= again.due_at - 20 * SECOND <= now_of(store) + SECOND


def test_the_last_failure_is_final(store: Store) -> None:
    """When every retry is used up."""
    shop = Workshop(store)
    row = shop.tried(failures=2, retry=RETRY)
    worker = shop.worker(holding=True)
    [begun] = worker.turn()

    worker.end(begun, Ended.FAILED, error="OSError: refused")

    failed = read(store, row.id)
    assert (failed.state, failed.failures) == (State.FAILED, 3)
    assert failed.reason == "retries exhausted: OSError: refused"


def test_a_success_after_failures_is_a_success(store: Store) -> None:
    """The earlier attempts can still be read."""
    shop = Workshop(store)
    row = shop.tried(failures=2, retry=RETRY)

    assert [each.id for each in shop.worker().turn()] == [row.id]

    done = read(store, row.id)
    assert (done.state, done.failures, done.attempt) == (State.SUCCEEDED, 2, 3)
    assert shop.row().starts == 1


def test_a_retry_leaves_the_next_slot_alone(store: Store) -> None:
    """The next slot keeps its row and its due_at."""
    shop = Workshop(store)
    shop.tried(failures=1, retry=RETRY)
    before = shop.row()

    shop.worker().work_off()

    after = shop.row()
    assert (after.next_run_at, after.cursor) == (before.next_run_at, before.cursor)


def test_a_failure_of_what_was_stopped_meanwhile_is_final(store: Store) -> None:
    """Disabled or paused: no retry is left waiting."""
    for name in ("disabled", "paused"):
        shop = Workshop(store)
        shop.due(name, retry=RETRY)
        worker = shop.worker(holding=True)
        [row] = worker.turn()
        handle = shop.schedule(name)
        verb = handle.disable if name == "disabled" else handle.pause
        verb()

        worker.end(row, Ended.FAILED, error="OSError: refused")

        failed = read(store, row.id)
        assert (failed.state, failed.reason) == (State.FAILED, f"{name}: OSError: refused")


def test_a_timeout_counts_as_a_failure(store: Store) -> None:
    """The run is retried like any other failure."""
    shop = Workshop(store)
    shop.due(retry=RETRY, timeout="1m")
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.end(row, Ended.TIMED_OUT, error="it took more than 0:01:00")

    again = read(store, row.id)
    assert (again.state, again.failures) == (State.SCHEDULED, 1)
    assert "it took more than 0:01:00" in again.reason


def test_every_run_is_given_its_timeout(store: Store) -> None:
    """The timeout of the schedule, or else the timeout of the settings."""
    shop = Workshop(store)
    [long] = shop.due("long", timeout="90m").rows
    [usual] = shop.due("usual").rows
    worker = shop.worker(timeout=timedelta(hours=2))
    worker.turn()

    assert worker.hands.runs[long.id].timeout == timedelta(minutes=90)
    assert worker.hands.runs[usual.id].timeout == timedelta(hours=2)


def test_a_cancelled_run_is_not_tried_again(store: Store) -> None:
    """The worker learns of the request at the next heartbeat, and records the cancellation."""
    shop = Workshop(store)
    shop.due(retry=RETRY)
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    assert shop.store.cancel([row.id], actor="operator") == [Cancelled.ASKED]
    worker.beat()
    assert worker.hands.asked == {row.id: "requested"}
    worker.end(row, Ended.CANCELLED, error="requested")

    ended = read(store, row.id)
    assert (ended.state, ended.reason) == (State.CANCELLED, "requested")
    assert worker.turn() == []


def test_a_run_that_is_asked_to_end_but_succeeds_has_succeeded(store: Store) -> None:
    """The request came too late."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    shop.store.cancel([row.id])
    worker.beat()

    worker.end(row)

    assert read(store, row.id).state is State.SUCCEEDED


def test_one_off_work_that_fails_has_failed(store: Store) -> None:
    """There is no schedule that says otherwise."""
    shop = Workshop(store)
    mail = enqueued(shop.store)
    worker = shop.worker(holding=True)
    [begun] = worker.turn()

    worker.end(begun, Ended.FAILED, error="OSError: refused")

    failed = read(store, mail)
    assert (failed.state, failed.reason) == (State.FAILED, "error: OSError: refused")
