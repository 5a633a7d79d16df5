"""Contracts of what a session holds: it can always ask, and is told when a run is not its own."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.planning import plan_failure, plan_release
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.ports.messages import Settled, Settlement
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    claimed,
    due_schedule,
    enqueued,
    expire,
    moment_of,
    new_id,
    read,
    rescued,
    session_of,
    succeed,
    wanted,
)

__all__ = [
    "test_a_session_can_ask_what_it_runs",
    "test_an_expired_session_runs_what_nobody_has_taken_back",
    "test_what_has_ended_or_waits_again_is_not_running",
]


def test_a_session_can_ask_what_it_runs(store: Store) -> None:
    """After a lost reply it finds what was started for it, in the order of the fences."""
    session, other = session_of(store), session_of(store)
    ids = {enqueued(store) for _ in range(3)}
    store.take(wanted(), session=session)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    elsewhere = claimed(store, due_schedule(store, "other").rows[0].id, other)

    reading = store.running(session)

    assert {each.id for each in reading.value[:-1]} == ids
    assert reading.value[-1] == row
    assert reading.value == sorted(reading.value, key=lambda each: each.fence)
    assert reading.value == [read(store, each.id) for each in reading.value]
    assert store.running(other).value == [elsewhere]
    assert store.running(new_id()).value == []


def test_what_has_ended_or_waits_again_is_not_running(store: Store) -> None:
    """However it came to its end."""
    session = session_of(store)
    for _ in range(3):
        enqueued(store, retry=Retry(1))
    done, failed, released = store.take(wanted(), session=session).value
    succeed(store, done)
    plans = {
        failed.id: plan_failure(None, failed, moment_of(store)),
        released.id: plan_release(None, released, moment_of(store)),
    }

    for row in (failed, released):
        settled = store.settle([Settlement(row, plans[row.id])], session=session)
        assert settled == [Settled.DONE]

    assert store.running(session).value == []


def test_an_expired_session_runs_what_nobody_has_taken_back(store: Store) -> None:
    """The store says what is so, not what should be; a lease that is over shows it."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    expire(store, session)

    reading = store.running(session)

    assert [each.id for each in reading.value] == [row.id]
    until = reading.value[0].leased_until
    assert until is not None
    assert until <= reading.now
    assert rescued(store, row.id).state is State.SCHEDULED
    assert store.running(session).value == []
