"""Contracts of retries: by exception type, with jitter, and as the job itself decides."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.exception_types import type_names
from sempre.domain.execution import Execution
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.ports.executor import Ended, Outcome
from sempre.ports.messages import UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import enqueued, hasten, now_of, read, work_of

SECOND = timedelta(seconds=1)
NETWORK = Retry(3, only=OSError, never=("builtins.TimeoutError", "myapp.errors.Fatal"))
LATER = Outcome(Ended.RETRY_LATER, error="rate limit", after=300 * SECOND)


def _raised(error: type[BaseException], ended: Ended = Ended.FAILED) -> Outcome:
    """Return the outcome of a run that raised."""
    return Outcome(ended, error=error.__name__, types=type_names(error))


def _ended(store: Store, outcome: Outcome, retry: Retry | int = 0) -> Execution:
    """Return a due execution after a run that ended so."""
    shop = Workshop(store)
    shop.due(retry=retry)
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    worker.finish(row, outcome)
    return read(store, row.id)


def test_a_failure_of_a_named_type_is_tried_again(store: Store) -> None:
    """The exception is of a subclass of the named type."""
    row = _ended(store, _raised(ConnectionRefusedError), retry=NETWORK)

    assert (row.state, row.failures) == (State.SCHEDULED, 1)
    assert row.reason == "error: ConnectionRefusedError"


def test_a_failure_of_a_type_that_is_not_named_is_final(store: Store) -> None:
    """The reason says that the policy decided so, with tries left."""
    row = _ended(store, _raised(ValueError), retry=NETWORK)

    assert (row.state, row.failures) == (State.FAILED, 1)
    assert row.reason == "not retried: ValueError"


def test_a_failure_of_a_type_that_is_never_tried_again_is_final(store: Store) -> None:
    """`never` wins over `only`; the end of a time limit is a TimeoutError."""
    row = _ended(store, _raised(TimeoutError, Ended.TIMED_OUT), retry=NETWORK)

    assert (row.state, row.reason) == (State.FAILED, "not retried: TimeoutError")


def test_a_timeout_is_tried_again_where_its_type_is_named(store: Store) -> None:
    """The end of a time limit is a TimeoutError."""
    row = _ended(store, _raised(TimeoutError, Ended.TIMED_OUT), retry=Retry(1, only=TimeoutError))

    assert (row.state, row.failures) == (State.SCHEDULED, 1)


def test_a_failure_without_an_exception_is_tried_again(store: Store) -> None:
    """The run could not begin: no type of the policy applies."""
    row = _ended(store, Outcome(Ended.FAILED, error="it could not begin"), retry=NETWORK)

    assert (row.state, row.failures) == (State.SCHEDULED, 1)


def test_a_crash_is_run_again_whatever_types_the_policy_names(store: Store) -> None:
    """An unknown outcome is not a failure."""
    row = _ended(store, Outcome(Ended.CRASHED, error="killed"), retry=Retry(1, never=BaseException))

    assert (row.state, row.failures, row.crashes) == (State.SCHEDULED, 0, 1)


def test_jitter_lengthens_a_wait_by_a_part_of_itself(store: Store) -> None:
    """The wait lies between the base and the base with the whole jitter."""
    row = _ended(store, _raised(OSError), retry=Retry(2, base="10s", jitter="10s"))

    assert row.finished_at is not None
    assert 10 * SECOND <= row.due_at - row.finished_at <= 20 * SECOND


def test_a_job_that_asks_for_a_later_try_waits_and_has_not_ended(store: Store) -> None:
    """Without any retry in its policy; the attempt is on record."""
    row = _ended(store, LATER)

    assert (row.state, row.reason) == (State.SCHEDULED, "retry later: rate limit")
    assert (row.attempt, row.failures) == (1, 0)
    assert row.finished_at is not None
    assert row.due_at - row.finished_at == 300 * SECOND
    [attempt] = store.attempts(row.id).value
    assert (attempt.state, attempt.error) == (State.SCHEDULED, "retry later: rate limit")


def test_a_later_try_is_reported_and_is_no_failure(store: Store) -> None:
    """The event holds the new start."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()

    worker.finish(row, LATER)

    [event] = worker.heard(Happened.RETRY_LATER)
    assert event.facts["retry_at"] == read(store, row.id).due_at
    assert event.facts["reason"] == "rate limit"
    assert worker.heard(Happened.FAILED) == []


def test_later_tries_use_up_no_retry(store: Store) -> None:
    """After any number of them a failure is still the first failure."""
    shop = Workshop(store)
    shop.due(retry=Retry(1))
    worker = shop.worker(holding=True)
    for _ in range(4):
        [row] = worker.turn()
        worker.finish(row, LATER)
        hasten(store, row.id)
    [row] = worker.turn()

    worker.finish(row, _raised(OSError))

    again = read(store, row.id)
    assert (again.state, again.failures, again.attempt) == (State.SCHEDULED, 1, 5)
    assert len(store.attempts(row.id).value) == again.attempt


def test_a_later_try_at_an_instant_waits_for_that_instant(store: Store) -> None:
    """By the clock of the store; the slot stays."""
    at = now_of(store) + timedelta(hours=3)

    row = _ended(store, LATER._replace(after=at))

    assert row.due_at == at
    assert row.run_at < at


def test_a_later_try_at_an_instant_that_has_passed_waits_a_second(store: Store) -> None:
    """A job cannot keep a worker busy with one execution."""
    row = _ended(store, LATER._replace(after=now_of(store) - timedelta(days=1)))

    assert row.finished_at is not None
    assert row.due_at - row.finished_at == SECOND


def test_a_later_try_of_what_was_stopped_meanwhile_is_final(store: Store) -> None:
    """Disabled or paused: no execution is left waiting."""
    for name in ("disabled", "paused"):
        shop = Workshop(store)
        shop.due(name)
        worker = shop.worker(holding=True)
        [row] = worker.turn()
        handle = shop.schedule(name)
        verb = handle.disable if name == "disabled" else handle.pause
        verb()

        worker.finish(row, LATER)

        ended = read(store, row.id)
        assert (ended.state, ended.failures) == (State.FAILED, 0)
        assert ended.reason == f"{name}: retry later: rate limit"
        assert [event.facts["retry_at"] for event in worker.heard(Happened.FAILED)] == [None]


def test_a_later_try_leaves_the_next_slot_alone(store: Store) -> None:
    """The next slot keeps its row and its due_at."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker(holding=True)
    [row] = worker.turn()
    before = shop.row()

    worker.finish(row, LATER)

    after = shop.row()
    assert (after.next_run_at, after.cursor) == (before.next_run_at, before.cursor)


def test_a_later_try_whose_key_is_taken_fails_as_coalesced(store: Store) -> None:
    """Invariant 8: there are never two that wait under one key."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    works = [
        work_of(store, unique=UniqueKey("mail:7", "live"), args={"number": number})
        for number in range(2)
    ]
    assert [each.created for each in shop.store.enqueue(works[:1])] == [True]
    [first] = worker.turn()
    assert [each.created for each in shop.store.enqueue(works[1:])] == [True]

    worker.finish(first, LATER)

    ended = read(store, first.id)
    assert (ended.state, ended.failures) == (State.FAILED, 0)
    assert ended.reason == f"coalesced into {works[1].execution.id}"


def test_a_later_try_holds_its_key(store: Store) -> None:
    """While the execution waits, its key admits no other work."""
    shop = Workshop(store)
    worker = shop.worker(holding=True)
    works = [work_of(store, unique=UniqueKey("mail:7"), args={"n": n}) for n in range(2)]
    shop.store.enqueue(works[:1])
    [first] = worker.turn()
    worker.finish(first, LATER)

    [refused] = shop.store.enqueue(works[1:])

    assert (refused.id, refused.created) == (first.id, False)


def test_a_job_that_gives_up_has_failed_though_tries_are_left(store: Store) -> None:
    """One failure is counted, and the reason is on record."""
    row = _ended(store, Outcome(Ended.GAVE_UP, error="no such customer"), retry=Retry(5))

    assert (row.state, row.failures) == (State.FAILED, 1)
    assert row.reason == "gave up: no such customer"
    [attempt] = store.attempts(row.id).value
    assert (attempt.state, attempt.error) == (State.FAILED, "gave up: no such customer")


def test_one_off_work_can_ask_for_a_later_try_and_give_up(store: Store) -> None:
    """There is no schedule that says otherwise."""
    shop = Workshop(store)
    mail = enqueued(shop.store)
    worker = shop.worker(holding=True)
    [begun] = worker.turn()

    worker.finish(begun, LATER)
    assert read(store, mail).state is State.SCHEDULED
    assert worker.turn() == []
    hasten(store, mail)
    [again] = worker.turn()
    worker.finish(again, Outcome(Ended.GAVE_UP))

    ended = read(store, mail)
    assert (ended.state, ended.reason, ended.attempt) == (State.FAILED, "gave up", 2)
    [event] = worker.heard(Happened.FAILED)
    assert (event.facts["error"], event.facts["retry_at"]) == ("gave up", None)
