"""Contracts of claim: a row is started once, never early, and with its successor."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from sempre.domain.planning import (
    Change,
    plan_claim,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_pause,
    plan_trigger,
)
from sempre.domain.planning.claim import Verdict
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, Order, Settled, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    MINUTE,
    check_invariants,
    claim_order,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    expire,
    first_row,
    moment_of,
    new_id,
    now_of,
    order_of,
    perform,
    read,
    row_of,
    session_of,
    started,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
    without_lease,
)


def test_a_claim_writes_cursor_start_and_successor_with_it(store: Store) -> None:
    """One operation: the row runs, the schedule has moved on, the next row is there."""
    view = due_schedule(store)
    session = session_of(store)
    order = claim_order(store, view.rows[0].id)

    [execution] = store.claim([order], session=session)

    assert execution is not None
    [change] = order.plan.changes
    expected = copy_with(change.after, session=session, fence=execution.fence)
    assert without_lease(execution) == expected
    assert execution.fence > 0
    assert execution.leased_until is not None
    assert execution.leased_until > now_of(store) + LEASE / 2
    assert read(store, execution.id) == execution
    assert view_of(store).schedule == order.plan.schedule
    assert view_of(store).schedule.cursor == view.rows[0].run_at
    assert first_row(store).id == order.ids[0]
    check_invariants(store)


def test_a_row_is_claimed_once(store: Store) -> None:
    """Of two plans of one start, the second is refused together with the successor."""
    row = due_schedule(store).rows[0]
    orders = [claim_order(store, row.id), claim_order(store, row.id)]
    sessions = [session_of(store), session_of(store)]

    [execution] = store.claim([orders[0]], session=sessions[0])
    assert store.claim([orders[1]], session=sessions[1]) == [None]

    assert execution is not None
    assert read(store, row.id) == execution
    assert store.candidates(orders[1].ids).value == []
    check_invariants(store)


def test_a_claim_again_by_the_same_session_is_the_same_claim(store: Store) -> None:
    """The reply to the first one may have been lost."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    order = claim_order(store, row.id)

    first = store.claim([order], session=session)
    before = view_of(store)

    assert store.claim([order], session=session) == first
    assert first[0] is not None
    assert view_of(store) == before
    check_invariants(store)


def test_fences_increase_over_everything_that_starts(store: Store) -> None:
    """Scheduled and one-off, of any schedule and session, at every try."""
    session, other = session_of(store), session_of(store)
    fences = []
    for number in range(3):
        enqueued(store)
        row = due_schedule(store, f"billing-{number}").rows[0]
        fences.append(claimed(store, row.id, session).fence)
        fences += [each.fence for each in store.claim_one_off(wanted(), session=other).value]
    orders = [claim_order(store, due_schedule(store, name).rows[0].id) for name in "xyz"]
    batch = store.claim(orders, session=other)
    fences += [each.fence for each in batch if each]

    assert len(fences) == 9
    assert fences == sorted(set(fences))


def test_a_row_is_never_claimed_early(store: Store) -> None:
    """Not by a planner whose clock is ahead either: the store's decides."""
    view = waiting_schedule(store)
    row = view.rows[0]
    ahead = moment_of(store)._replace(now=row.due_at + MINUTE)
    answer = plan_claim(view.schedule, row, view.rows, ahead)
    assert answer.verdict is Verdict.START

    assert store.claim([order_of(answer.plan)], session=session_of(store)) == [None]

    assert view_of(store) == view


def test_nothing_is_claimed_for_an_unknown_session(store: Store) -> None:
    """No session would renew the lease."""
    view = due_schedule(store)

    assert store.claim([claim_order(store, view.rows[0].id)], session=new_id()) == [None]

    assert view_of(store) == view


def test_a_session_that_lost_its_lease_claims_nothing(store: Store) -> None:
    """An expired lease, a lease of no length, or a retired session."""
    view = due_schedule(store)
    expired, retired = session_of(store), session_of(store)
    expire(store, expired)
    store.retire(retired)
    never = session_of(store, lease=HOUR * 0)

    for session in (expired, retired, never):
        order = claim_order(store, view.rows[0].id)
        assert store.claim([order], session=session) == [None]

    assert view_of(store) == view


def test_a_claim_is_refused_once_its_schedule_was_disabled(store: Store) -> None:
    """Once disable has returned, no row starts from an earlier reading."""
    row = due_schedule(store).rows[0]
    order = claim_order(store, row.id)
    perform(store, plan_disable)
    before = view_of(store)

    assert store.claim([order], session=session_of(store)) == [None]

    assert view_of(store) == before
    assert read(store, row.id).state is State.SKIPPED


def test_a_claim_is_refused_once_its_schedule_was_edited_or_paused(store: Store) -> None:
    """After an edit the row is planned again and starts; after a pause the row does not start."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    order = claim_order(store, row.id)
    to = view_of(store).schedule.definition.edited(note="edited")
    perform(store, plan_edit, to=to)

    assert store.claim([order], session=session) == [None]
    again = claim_order(store, row.id)
    perform(store, plan_pause)
    assert store.claim([again], session=session) == [None]

    assert read(store, row.id).state is State.SKIPPED


def test_a_due_row_of_a_deleted_schedule_starts_from_its_snapshot(store: Store) -> None:
    """The row is still listed as due, and has no successor."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    stale = claim_order(store, row.id)
    perform(store, plan_delete)
    assert store.claim([stale], session=session) == [None]

    [found] = store.due(wanted()).value
    assert found.view is not None
    assert found.view.schedule.deleted
    execution = claimed(store, row.id, session)

    assert execution.state is State.RUNNING
    assert store.due(wanted()).value == []


def test_a_row_that_is_rung_is_due_and_claimed_as_one_that_is_not(store: Store) -> None:
    """Pending and scheduled are both live: the broker may not have been reached."""
    names = ["rung", "unrung"]
    rows = [due_schedule(store, name).rows[0] for name in names]
    assert store.mark_announced([rows[0].id]) == 1

    found = {each.execution.snapshot.name for each in store.due(wanted()).value}

    assert found == set(names)
    session = session_of(store)
    assert claimed(store, rows[0].id, session).state is State.RUNNING
    assert claimed(store, rows[1].id, session).state is State.RUNNING


def test_a_claim_that_may_not_start_leaves_no_trace(store: Store) -> None:
    """Another change of the plan does not fit: the whole plan is refused, the start included."""
    view = due_schedule(store)
    trigger = order_of(plan_trigger(view.schedule, moment_of(store)))
    assert store.apply([trigger]) == [True]
    manual = read(store, trigger.ids[0])
    order = claim_order(store, view.rows[0].id)
    misfit = Change(copy_with(manual, attempt=3), manual.to(State.CANCELLED))
    plan = copy_with(order.plan, changes=(*order.plan.changes, misfit))
    before = view_of(store)

    assert store.claim([Order(plan, order.ids)], session=session_of(store)) == [None]

    assert view_of(store) == before


def test_a_row_that_replaces_another_cancels_it_as_it_starts(store: Store) -> None:
    """One operation: the newer runs under a higher fence, and the older one's result is late."""
    session = session_of(store)
    schedule = draft_schedule(store, overlap="replace")
    birth = started(schedule, at=schedule.created_at)
    begun = birth.rows[0].due_at - MINUTE
    times = {"first_started_at": begun, "started_at": begun, "attempt": 1, "session": session}
    older = row_of(View(schedule), begun, kind=Kind.MANUAL, state=State.RUNNING, **times)
    assert store.create([Birth(birth.schedule, (*birth.rows, older))]) == [True]
    running = read(store, older.id)

    newer = claimed(store, birth.rows[0].id, session_of(store))

    assert newer.fence > running.fence
    assert read(store, older.id).state is State.CANCELLED
    assert succeed(store, running) is Settled.LATE
    assert read(store, older.id).state is State.CANCELLED
    check_invariants(store)


def test_a_batch_of_claims_starts_what_fits_and_refuses_the_rest(store: Store) -> None:
    """Answers come in the order of the orders."""
    rows = [due_schedule(store, f"billing-{number}").rows[0] for number in range(10)]
    orders = [claim_order(store, row.id) for row in rows]
    for number in (1, 4, 7):
        perform(store, plan_disable, f"billing-{number}")

    found = store.claim(orders, session=session_of(store))

    expected = [None if number in (1, 4, 7) else row.id for number, row in enumerate(rows)]
    assert [each and each.id for each in found] == expected
    for number in range(10):
        check_invariants(store, f"billing-{number}")


def test_of_two_claims_made_from_the_same_reading_one_starts(store: Store) -> None:
    """Each claim read no run in flight, and the schedule forbids overlap."""
    slot = due_schedule(store).rows[0]
    perform(store, lambda schedule, _rows, moment: plan_trigger(schedule, moment))
    manual = next(row for row in view_of(store).rows if row.kind is Kind.MANUAL)
    orders = [claim_order(store, manual.id), claim_order(store, slot.id)]

    found = store.claim(orders, session=session_of(store))

    assert [each and each.id for each in found] == [manual.id, None]
    check_invariants(store)
