"""Contracts of apply: a plan is applied wholly or not at all, and only if the plan still fits."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import (
    Change,
    Plan,
    plan_edit,
    plan_pause,
    plan_trigger,
)
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import Order
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    check_invariants,
    claim_order,
    claimed,
    due_schedule,
    moment_of,
    new_id,
    now_of,
    order_of,
    perform,
    read,
    session_of,
    view_of,
    waiting_schedule,
)
from sempre.testing.contracts.store.refusals import check_refused, draft_of


def _noted(store: Store, note: str) -> Plan:
    """Return a plan that changes only the definition, based on the revision of the view."""
    view = view_of(store)
    to = view.schedule.definition.edited(note=note)
    return plan_edit(view.schedule, view.rows, moment_of(store), to=to)


def _every_minute(store: Store, *, odd: bool = False) -> Every:
    anchor = now_of(store) - 2 * HOUR + (MINUTE / 4 if odd else MINUTE / 2)
    return Every("1m", anchor=anchor)


def _cancelling(row: Execution) -> Change:
    return Change(row, row.to(State.CANCELLED))


# The schedule's guards


def test_nothing_to_apply_is_nothing_done(store: Store) -> None:
    """Neither no order nor an empty plan changes anything."""
    view = waiting_schedule(store)

    assert store.apply([]) == []
    assert store.apply([Order(Plan(view.schedule, view.schedule))]) == [True]

    assert view_of(store) == view


def test_a_plan_from_another_revision_is_refused(store: Store) -> None:
    """Of a base that was changed since, and of one that never was."""
    waiting_schedule(store)
    stale = _noted(store, "late")
    perform(store, plan_pause)

    check_refused(store, stale)

    fresh = _noted(store, "ahead")
    assert fresh.base is not None
    ahead = copy_with(fresh.base, revision=fresh.base.revision + 1)
    check_refused(store, copy_with(fresh, base=ahead))


def test_a_plan_that_changes_the_schedule_is_refused_if_starts_or_cursor_moved(
    store: Store,
) -> None:
    """One start more, or one microsecond of the cursor, is enough for a refusal."""
    waiting_schedule(store)
    plan = _noted(store, "edited")
    assert plan.base is not None

    check_refused(store, copy_with(plan, base=copy_with(plan.base, starts=1)))
    moved = plan.base.cursor - timedelta(microseconds=1)
    check_refused(store, copy_with(plan, base=copy_with(plan.base, cursor=moved)))

    assert store.apply([order_of(plan)]) == [True]


def test_a_plan_that_changes_the_schedule_is_refused_after_a_claim(store: Store) -> None:
    """A claim moves starts and cursor without a new revision."""
    row = due_schedule(store).rows[0]
    stale = _noted(store, "late")
    claimed(store, row.id, session_of(store))

    check_refused(store, stale)
    check_invariants(store)


def test_a_plan_that_leaves_the_schedule_alone_fits_after_a_claim(store: Store) -> None:
    """Only the revision guards the plan; the claim's changes stay."""
    view = due_schedule(store)
    stale = plan_trigger(view.schedule, moment_of(store))
    claimed(store, view.rows[0].id, session_of(store))
    before = view_of(store).schedule

    assert store.apply([order_of(stale)]) == [True]

    assert view_of(store).schedule == before
    check_invariants(store)


def test_a_plan_of_an_unknown_schedule_is_refused(store: Store) -> None:
    """A base that does not exist is no base."""
    view = waiting_schedule(store)
    stranger = copy_with(view.schedule, id=new_id())

    check_refused(store, Plan(stranger, stranger, creates=(draft_of(view, now_of(store)),)))


def test_the_second_of_two_plans_from_one_base_is_refused(store: Store) -> None:
    """Also within one batch: each order is judged after the previous order."""
    waiting_schedule(store)
    orders = [order_of(_noted(store, note)) for note in ("first", "second")]

    assert store.apply(orders) == [True, False]

    assert view_of(store).schedule.definition.note == "first"


# The executions' guards


def test_a_plan_is_refused_if_an_execution_is_in_another_state(store: Store) -> None:
    """Even if the row was only announced since, and is still live."""
    row = waiting_schedule(store).rows[0]
    assert store.mark_announced([row.id]) == 1

    check_refused(store, Plan(changes=(_cancelling(row),)))

    assert store.apply([Order(Plan(changes=(_cancelling(read(store, row.id)),)))]) == [True]
    assert read(store, row.id).state is State.CANCELLED


def test_a_plan_is_refused_if_an_execution_has_another_attempt(store: Store) -> None:
    """An equal state in another attempt is another state."""
    row = waiting_schedule(store).rows[0]

    check_refused(store, Plan(changes=(_cancelling(copy_with(row, attempt=1)),)))


def test_a_plan_is_refused_if_an_execution_has_another_fence(store: Store) -> None:
    """An equal attempt under another fence is another claim."""
    row = claimed(store, due_schedule(store).rows[0].id, session_of(store))

    check_refused(store, Plan(changes=(_cancelling(copy_with(row, fence=row.fence - 1)),)))
    check_refused(store, Plan(changes=(_cancelling(copy_with(row, fence=row.fence + 1)),)))


def test_a_plan_is_refused_if_an_execution_is_unknown(store: Store) -> None:
    """There is nothing to compare with."""
    row = waiting_schedule(store).rows[0]

    check_refused(store, Plan(changes=(_cancelling(copy_with(row, id=new_id())),)))


def test_a_plan_that_starts_something_is_for_a_claim(store: Store) -> None:
    """An applied start would run without a session and a fence, past every switch."""
    row = due_schedule(store).rows[0]

    check_refused(store, claim_order(store, row.id).plan)


def test_a_plan_whose_last_part_does_not_fit_leaves_no_trace(store: Store) -> None:
    """No change, creation, range or schedule field of the plan is stored."""
    view = waiting_schedule(store)
    now = now_of(store)
    perform(store, lambda schedule, _rows, moment: plan_trigger(schedule, moment))
    [manual] = [row for row in view_of(store).rows if row.kind is Kind.MANUAL]
    misfit = copy_with(manual, attempt=7)
    passed = SlotRange(
        schedule_id=view.schedule.id, first=now - HOUR, last=now, count=2, reason="missed"
    )

    check_refused(
        store,
        Plan(
            view.schedule,
            copy_with(view.schedule, revision=view.schedule.revision + 1, next_run_at=None),
            (_cancelling(view.rows[0]), _cancelling(misfit)),
            (draft_of(view, now - 2 * HOUR),),
            (passed,),
        ),
    )


# Repetition and birth


def test_an_order_repeated_is_done_and_doubles_nothing(store: Store) -> None:
    """The reply to the first one may have been lost: rows, ranges and revision stay single."""
    view = due_schedule(store, grid=_every_minute(store))
    moment = moment_of(store)
    to = view.schedule.definition.edited(grid=_every_minute(store, odd=True))
    order = order_of(plan_edit(view.schedule, view.rows, moment, to=to))
    assert order.plan.ranges
    assert order.ids
    assert store.apply([order]) == [True]
    before = view_of(store), store.ranges(view.schedule.id, limit=100).value

    assert store.apply([order, order]) == [True, True]

    assert (view_of(store), store.ranges(view.schedule.id, limit=100).value) == before
    check_invariants(store)


def test_a_batch_carries_out_what_fits_and_refuses_the_rest(store: Store) -> None:
    """Answers come in the order of the orders."""
    names = [f"billing-{number}" for number in range(9)]
    views = [waiting_schedule(store, name) for name in names]
    moment = moment_of(store)
    bases = [
        copy_with(view.schedule, revision=view.schedule.revision + number % 3)
        for number, view in enumerate(views)
    ]
    orders = [order_of(plan_trigger(base, moment)) for base in bases]

    assert store.apply(orders) == [True, False, False] * 3

    counts = [len(view_of(store, name).rows) for name in names]
    assert counts == [2, 1, 1] * 3


def test_created_rows_are_born_at_the_stores_now(store: Store) -> None:
    """Not at the time of planning, which may be older."""
    view = waiting_schedule(store)
    old = moment_of(store)._replace(now=now_of(store) - HOUR)
    order = order_of(plan_trigger(view.schedule, old, actor="ana"))
    before = now_of(store)

    assert store.apply([order]) == [True]

    row = read(store, order.ids[0])
    assert before <= row.created_at <= now_of(store)
    assert row == order.plan.creates[0].born(row.id, row.created_at)
