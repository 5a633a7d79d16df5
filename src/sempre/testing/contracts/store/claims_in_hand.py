"""Contracts of claims in hand: a session reads what it runs, and learns which claims it lost."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.planning import plan_failure, plan_release
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, Session, Settled, Settlement, Tick, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    LEASE,
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    expire,
    hasten,
    moment_of,
    new_id,
    read,
    rescued,
    row_of,
    session_of,
    started,
    succeed,
    wanted,
)


def test_a_session_can_ask_what_it_runs(store: Store) -> None:
    """After a lost reply the session finds the executions it started, in order of fence."""
    session, other = session_of(store), session_of(store)
    ids = {enqueued(store) for _ in range(3)}
    store.claim_one_off(wanted(), session=session)
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
    """After any kind of end."""
    session = session_of(store)
    for _ in range(3):
        enqueued(store, retry=Retry(1))
    done, failed, released = store.claim_one_off(wanted(), session=session).value
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
    """The store reports the actual state; the expired lease is visible."""
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


def _tick(store: Store, session: str) -> Tick:
    return store.tick(session, wanted(), lease=LEASE).value


def test_a_tick_tells_what_a_session_holds(store: Store) -> None:
    """By fence, which is unique per claim; settled claims are left out, by any settler."""
    session, other = session_of(store), session_of(store)
    assert _tick(store, session).held == frozenset()
    enqueued(store)
    [mail] = store.claim_one_off(wanted(), session=session).value
    row = claimed(store, due_schedule(store).rows[0].id, session)

    assert _tick(store, session).held == {mail.fence, row.fence}
    assert _tick(store, other).held == frozenset()

    succeed(store, mail)
    assert _tick(store, session).held == {row.fence}


def test_a_replaced_run_is_no_longer_held(store: Store) -> None:
    """No cancel was requested, and yet the worker has to stop the run."""
    session, other = session_of(store), session_of(store)
    schedule = draft_schedule(store, overlap="replace")
    birth = started(schedule, at=schedule.created_at)
    begun = birth.rows[0].due_at - MINUTE
    held = {"first_started_at": begun, "started_at": begun, "attempt": 1, "session": session}
    older = row_of(View(schedule), begun, kind=Kind.MANUAL, state=State.RUNNING, fence=9, **held)
    assert store.create([Birth(birth.schedule, (*birth.rows, older))]) == [True]
    assert _tick(store, session).held == {9}

    newer = claimed(store, birth.rows[0].id, other)

    assert _tick(store, session).held == frozenset()
    assert _tick(store, session).cancelled == ()
    assert _tick(store, other).held == {newer.fence}


def test_a_rescued_run_is_no_longer_held(store: Store) -> None:
    """The old fence is not held even if that session takes the work again."""
    session = session_of(store)
    enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    assert _tick(store, session).held == {row.fence}
    expire(store, session)

    rescued(store, row.id)

    assert _tick(store, session).held == frozenset()
    store.register(Session(session), lease=LEASE)
    hasten(store, row.id)
    [again] = store.claim_one_off(wanted(), session=session).value
    assert _tick(store, session).held == {again.fence}
    assert again.fence != row.fence


def test_a_request_to_cancel_ends_with_a_release(store: Store) -> None:
    """The request concerned that attempt; ending the next attempt needs a new request."""
    session = session_of(store)
    identity = enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    store.cancel([identity])
    assert _tick(store, session).cancelled == (identity,)
    plan = plan_release(None, row, moment_of(store))
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]
    assert _tick(store, session).cancelled == ()

    [again] = store.claim_one_off(wanted(), session=session).value

    assert _tick(store, session).cancelled == ()
    store.cancel([again.id])
    assert _tick(store, session).cancelled == (identity,)


def test_a_request_to_cancel_ends_with_a_rescue(store: Store) -> None:
    """The request concerned the lost attempt; the next attempt needs a new request."""
    session, other = session_of(store), session_of(store)
    identity = enqueued(store)
    store.claim_one_off(wanted(), session=session)
    store.cancel([identity])
    expire(store, session)
    rescued(store, identity)
    hasten(store, identity)
    store.register(Session(session), lease=LEASE)

    [again] = store.claim_one_off(wanted(), session=session).value

    assert (again.id, _tick(store, session).cancelled) == (identity, ())
    assert _tick(store, other).cancelled == ()
    store.cancel([identity])
    assert _tick(store, session).cancelled == (identity,)
