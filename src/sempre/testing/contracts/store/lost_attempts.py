"""Contracts of lost attempts: an attempt that another process ended is on record too."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_disable, plan_success
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Attempt, Birth, Settled, Settlement, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    expire,
    hasten,
    moment_of,
    now_of,
    perform,
    read,
    rescued,
    row_of,
    session_of,
    started,
    succeed,
    wanted,
)


def _lost(store: Store, row: Execution) -> Attempt:
    """Return the one attempt of an execution, which is lost."""
    [attempt] = store.attempts(row.id).value
    assert (attempt.lost, attempt.late, attempt.result) == (True, False, None)
    assert (attempt.fence, attempt.session) == (row.fence, row.session)
    assert attempt.started_at == row.started_at
    return attempt


def test_a_rescued_crash_is_on_record(store: Store) -> None:
    """The record names the holder of the lease and the duration; the row waits for the next try."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    expire(store, session)
    [until] = [each.leased_until for each in store.sessions().value]

    again = rescued(store, row.id)

    attempt = _lost(store, row)
    assert attempt.state is State.SCHEDULED
    assert again.finished_at is not None
    assert again.finished_at <= attempt.finished_at <= now_of(store)
    assert attempt.error == f"lease lost: session {session} held it until {until}"


def test_a_crash_that_ends_an_execution_is_on_record(store: Store) -> None:
    """Of a schedule that was stopped meanwhile there is no rerun."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    perform(store, plan_disable)
    expire(store, session)

    assert rescued(store, row.id).state is State.FAILED

    assert _lost(store, row).state is State.FAILED


def test_a_replaced_run_is_on_record(store: Store) -> None:
    """The record names the execution that took over."""
    session = session_of(store)
    schedule = draft_schedule(store, overlap="replace")
    birth = started(schedule, at=schedule.created_at)
    begun = birth.rows[0].due_at - MINUTE
    held = {"first_started_at": begun, "started_at": begun, "attempt": 1, "session": session}
    older = row_of(View(schedule), begun, kind=Kind.MANUAL, state=State.RUNNING, **held)
    assert store.create([Birth(birth.schedule, (*birth.rows, older))]) == [True]

    newer = claimed(store, birth.rows[0].id, session_of(store))

    attempt = _lost(store, older)
    assert (attempt.state, attempt.error) == (State.CANCELLED, f"replaced by {newer.id}")


def test_what_a_lost_worker_says_is_late(store: Store) -> None:
    """The loss is no settlement: a later result is stored once, and changes nothing."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    expire(store, session)
    rescued(store, row.id)
    before = read(store, row.id)
    settlement = Settlement(row, plan_success(row, moment_of(store)), result=7)

    for _ in range(2):
        assert store.settle([settlement], session=session) == [Settled.LATE]

    assert read(store, row.id) == before
    lost, late = store.attempts(row.id).value
    assert (lost.lost, lost.late) == (True, False)
    assert (late.lost, late.late, late.result) == (False, True, 7)


def test_every_try_is_on_record_in_order(store: Store) -> None:
    """Lost attempts and the successful attempt."""
    identity = enqueued(store)
    for _ in range(2):
        session = session_of(store)
        store.claim_one_off(wanted(), session=session)
        expire(store, session)
        rescued(store, identity)
        hasten(store, identity)
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    succeed(store, row)

    attempts = store.attempts(identity).value

    assert [each.lost for each in attempts] == [True, True, False]
    assert [each.fence for each in attempts] == sorted(each.fence for each in attempts)
    assert attempts[-1] == copy_with(attempts[-1], fence=row.fence, state=State.SUCCEEDED)
