"""Contracts of cancel: waiting work ends, a run is asked to end, schedules keep their next row."""

# ruff: noqa: S101 - a contract asserts

from functools import partial

from sempre.domain.planning import plan_backfill, plan_delete, plan_failure, plan_trigger
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, Reason, State
from sempre.ports.messages import Cancelled, Order, Settled, Settlement, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    at_once,
    check_invariants,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    moment_of,
    new_id,
    now_of,
    order_of,
    perform,
    read,
    session_of,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
    without_lease,
)


def test_a_cancelled_execution_is_over(store: Store) -> None:
    """A waiting execution ends at once and records who cancelled."""
    ids = [enqueued(store), enqueued(store, due_in=HOUR)]
    assert store.mark_announced(ids[:1]) == 1
    before = [read(store, each) for each in ids]

    assert store.cancel(ids, actor="ana") == [Cancelled.ENDED, Cancelled.ENDED]

    for row in before:
        over = read(store, row.id)
        assert over.finished_at is not None
        assert over == row.to(
            State.CANCELLED, reason="requested", actor="ana", finished_at=over.finished_at
        )
    assert store.claim_one_off(wanted(), session=session_of(store)).value == []


def test_a_running_execution_is_asked_to_end(store: Store) -> None:
    """Only the holder learns of the request, at each tick until the settlement."""
    row = due_schedule(store).rows[0]
    session, other = session_of(store), session_of(store)
    execution = claimed(store, row.id, session)
    assert store.tick(session, wanted(), lease=LEASE).value.cancelled == ()

    assert store.cancel([row.id]) == [Cancelled.ASKED]

    assert without_lease(read(store, row.id)) == without_lease(execution)
    assert store.tick(session, wanted(), lease=LEASE).value.cancelled == (row.id,)
    assert store.tick(other, wanted(), lease=LEASE).value.cancelled == ()
    assert succeed(store, execution) is Settled.DONE
    assert store.tick(session, wanted(), lease=LEASE).value.cancelled == ()


def test_cancelling_what_is_over_or_unknown_is_refused(store: Store) -> None:
    """Terminal stays terminal."""
    identity = enqueued(store)
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    succeed(store, row)
    before = read(store, identity)

    assert store.cancel([identity, new_id()]) == [Cancelled.OVER, Cancelled.OVER]

    assert read(store, identity) == before
    assert store.cancel([]) == []


def test_the_next_row_of_a_schedule_is_not_cancelled(store: Store) -> None:
    """Due or not: a cancel would leave the schedule without a next row. Use skip instead."""
    for name, view in [("due", due_schedule(store, "due")), ("to come", _to_come(store))]:
        [row] = view.rows

        assert store.cancel([row.id, row.id]) == [Cancelled.NEXT_ROW] * 2

        assert view_of(store, name) == view
        check_invariants(store, name)


def _to_come(store: Store) -> View:
    return waiting_schedule(store, "to come")


def test_a_retry_of_a_slot_can_be_cancelled(store: Store) -> None:
    """The schedule has moved on and keeps the next row."""
    session = session_of(store)
    row = claimed(store, due_schedule(store, retry=Retry(1)).rows[0].id, session)
    plan = plan_failure(view_of(store).schedule, row, moment_of(store))
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]
    assert read(store, row.id).is_live

    assert store.cancel([row.id]) == [Cancelled.ENDED]

    over = read(store, row.id)
    assert (over.state, over.reason) == (State.CANCELLED, Reason.REQUESTED)
    check_invariants(store)


def test_manual_and_backfill_rows_can_be_cancelled(store: Store) -> None:
    """The schedule does not depend on these rows."""
    view = due_schedule(store)
    succeed(store, claimed(store, view.rows[0].id, session_of(store)))
    trigger = plan_trigger(view_of(store).schedule, moment_of(store))
    assert store.apply([order_of(trigger)]) == [True]
    now = now_of(store)
    perform(store, plan_backfill, start=now - 5 * HOUR, end=now, retention=9 * HOUR)
    rows = [row for row in view_of(store).rows if row.kind is not Kind.SCHEDULED]
    assert {row.kind for row in rows} == {Kind.MANUAL, Kind.BACKFILL}

    assert store.cancel([row.id for row in rows]) == [Cancelled.ENDED] * len(rows)

    assert {row.kind for row in view_of(store).rows if row.is_live} == {Kind.SCHEDULED}
    check_invariants(store)


def test_a_due_row_of_a_deleted_schedule_can_be_cancelled(store: Store) -> None:
    """The row would still run from the snapshot, and has no successor to lose."""
    [row] = due_schedule(store).rows
    perform(store, plan_delete)
    assert read(store, row.id).is_live

    assert store.cancel([row.id]) == [Cancelled.ENDED]

    assert read(store, row.id).state is State.CANCELLED


def test_a_claim_and_a_cancel_at_once_leave_a_next_row(store: Store) -> None:
    """The cancel finds a next row and leaves the row, or finds a run and asks the run to end."""
    for number in range(5):
        name = f"billing-{number}"
        row = due_schedule(store, name).rows[0]
        order, session = claim_order(store, row.id), session_of(store)

        def start(order: Order = order, session: str = session) -> list[Cancelled]:
            assert store.claim([order], session=session) != [None]
            return []

        [answers, _] = at_once(partial(store.cancel, [row.id]), start)

        assert answers[0] in (Cancelled.NEXT_ROW, Cancelled.ASKED)
        assert read(store, row.id).state is State.RUNNING
        check_invariants(store, name)
