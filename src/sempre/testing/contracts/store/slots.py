"""Contracts of slots: one row of kind scheduled each, and one active backfill."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from sempre.domain.planning import (
    plan_skip,
    plan_trigger,
    plan_unskip,
)
from sempre.domain.states import Kind, State
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    check_invariants,
    claimed,
    due_schedule,
    history_of,
    moment_of,
    now_of,
    order_of,
    perform,
    session_of,
    succeed,
    view_of,
    waiting_schedule,
)
from sempre.testing.contracts.store.refusals import check_refused, creating, draft_of


def test_a_slot_has_one_row_of_kind_scheduled(store: Store) -> None:
    """A plan that would write a second row is refused, from any base."""
    view = waiting_schedule(store)

    check_refused(store, creating(view, draft_of(view, view.rows[0].run_at)))


def test_a_slot_whose_row_is_over_stays_taken(store: Store) -> None:
    """Uniqueness is over all states but superseded, not over the live ones."""
    row = due_schedule(store).rows[0]
    succeed(store, claimed(store, row.id, session_of(store)))
    view = view_of(store)

    check_refused(store, creating(view, draft_of(view, row.run_at)))


def test_a_refused_slot_leaves_no_trace_of_the_rest(store: Store) -> None:
    """A constraint refuses the whole plan; the other plans of the batch are applied."""
    view = waiting_schedule(store)
    slot = view.rows[0].run_at
    free, taken = draft_of(view, slot + HOUR), draft_of(view, slot)
    other = waiting_schedule(store, "other")
    manual = order_of(plan_trigger(other.schedule, moment_of(store)))

    check_refused(store, creating(view, free, taken))

    batch = [manual, order_of(creating(view, free, taken)), order_of(creating(view, free))]
    assert store.apply(batch) == [True, False, True]
    assert len(view_of(store).rows) == 2
    assert len(view_of(store, "other").rows) == 2


def test_one_plan_cannot_create_a_slot_twice(store: Store) -> None:
    """Uniqueness holds inside a plan as between plans."""
    view = waiting_schedule(store)
    slot = view.rows[0].run_at + HOUR

    check_refused(store, creating(view, draft_of(view, slot), draft_of(view, slot)))


def test_a_superseded_row_frees_its_slot_for_another(store: Store) -> None:
    """Within one plan, and repeatedly: skip, unskip and skip of one slot."""
    view = waiting_schedule(store)
    slot = view.rows[0].run_at

    for _ in range(3):
        perform(store, plan_skip, run_at=slot)
        assert view_of(store).schedule.next_run_at == slot + HOUR
        perform(store, plan_unskip, run_at=slot)
        assert view_of(store).schedule.next_run_at == slot

    check_invariants(store)
    there = [row for row in history_of(store, view.schedule) if row.run_at == slot]
    states = sorted(row.state for row in there)
    assert states == [State.PENDING, *[State.SUPERSEDED] * 6]


def test_two_schedules_share_a_slot(store: Store) -> None:
    """And so do scheduled, manual and backfill rows of one schedule."""
    view, other = waiting_schedule(store), waiting_schedule(store, "other")
    slot = view.rows[0].run_at
    drafts = [draft_of(view, slot, kind) for kind in (Kind.MANUAL, Kind.BACKFILL)]

    taken = [row.run_at for row in other.rows]
    rows = [] if slot in taken else [draft_of(other, slot)]

    assert store.apply([order_of(creating(view, *drafts))]) == [True]
    assert store.apply([order_of(creating(other, *rows))]) == [True]


def test_manual_rows_share_a_slot(store: Store) -> None:
    """Triggering twice at one instant runs twice."""
    view = waiting_schedule(store)
    draft = draft_of(view, now_of(store), Kind.MANUAL)

    assert store.apply([order_of(creating(view, draft, draft))]) == [True]

    manual = [row for row in view_of(store).rows if row.kind is Kind.MANUAL]
    assert len(manual) == 2


def test_a_slot_has_one_active_backfill(store: Store) -> None:
    """A second backfill is refused while the first waits or runs, and accepted after its end."""
    view = due_schedule(store)
    slot = view.rows[0].run_at - HOUR
    again = creating(view, draft_of(view, slot, Kind.BACKFILL))
    first = order_of(again)
    assert store.apply([first]) == [True]
    session = session_of(store)
    succeed(store, claimed(store, view.rows[0].id, session))
    again = creating(view_of(store), draft_of(view, slot, Kind.BACKFILL))

    check_refused(store, again)
    execution = claimed(store, first.ids[0], session)
    again = creating(view_of(store), draft_of(view, slot, Kind.BACKFILL))
    check_refused(store, again)
    succeed(store, execution)

    assert store.apply([order_of(again)]) == [True]
    check_invariants(store)
