"""Contracts of failures in a row: unique work that keeps failing is reported, and can slow down."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_failure
from sempre.domain.states import State
from sempre.ports.messages import Backoff, Enqueued, Settled, Settlement, UniqueKey, Work
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    moment_of,
    read,
    session_of,
    succeed,
    wanted,
    work_of,
)

SLOWLY = Backoff(HOUR, 3 * HOUR)
AT_ONCE = Backoff(timedelta(microseconds=1), timedelta(microseconds=1))


def _put(store: Store, backoff: Backoff | None = None, *, key: str = "k") -> Enqueued:
    work = work_of(store, unique=UniqueKey(key))
    [receipt] = store.enqueue([Work(work.execution, work.unique, backoff)])
    return receipt


def _start(store: Store) -> Execution:
    [execution] = store.claim_one_off(wanted(), session=session_of(store)).value
    return execution


def _fail(store: Store) -> Execution:
    """Start the waiting execution and settle it as finally failed."""
    execution = _start(store)
    plan = plan_failure(None, execution, moment_of(store), error="no")
    settled = store.settle([Settlement(execution, plan)], session=execution.session)
    assert settled == [Settled.DONE]
    ended = read(store, execution.id)
    assert ended.state is State.FAILED
    return ended


def test_work_whose_last_one_failed_is_refused_for_a_while(store: Store) -> None:
    """The receipt names the failed execution and the time of the next try."""
    first = _put(store, SLOWLY)
    assert (first.created, first.failures, first.waits_until) == (True, 0, None)
    failed = _fail(store)

    refused = _put(store, SLOWLY)

    assert failed.finished_at is not None
    until = failed.finished_at + HOUR
    assert refused == Enqueued(first.id, created=False, failures=1, waits_until=until)
    assert store.claim_one_off(wanted(), session=session_of(store)).value == []


def test_each_failure_in_a_row_makes_the_wait_longer_up_to_its_cap(store: Store) -> None:
    """Work that does not ask to be slowed is accepted, and counts."""
    waits = []
    for failures in range(1, 5):
        assert _put(store).failures == failures - 1
        failed = _fail(store)
        refused = _put(store, SLOWLY)
        assert refused.failures == failures
        assert failed.finished_at is not None
        assert refused.waits_until is not None
        waits.append(refused.waits_until - failed.finished_at)

    assert waits == [HOUR, 2 * HOUR, 3 * HOUR, 3 * HOUR]


def test_work_is_accepted_when_the_wait_after_a_failure_is_over(store: Store) -> None:
    """The receipt holds the number of earlier failures."""
    _put(store)
    _fail(store)

    accepted = _put(store, AT_ONCE)

    assert (accepted.created, accepted.failures, accepted.waits_until) == (True, 1, None)
    assert _put(store, AT_ONCE) == Enqueued(accepted.id, created=False, failures=1)


def test_a_success_ends_the_row_of_failures(store: Store) -> None:
    """Every other end that is no failure ends the row too."""
    _put(store)
    _fail(store)
    _put(store)
    succeed(store, _start(store))

    again = _put(store, SLOWLY)

    assert (again.created, again.failures) == (True, 0)


def test_failures_of_one_key_say_nothing_about_another(store: Store) -> None:
    """Each key has a separate row of failures."""
    _put(store)
    _fail(store)

    other = _put(store, SLOWLY, key="other")

    assert (other.created, other.failures) == (True, 0)
