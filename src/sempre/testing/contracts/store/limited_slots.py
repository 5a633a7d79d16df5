"""Contracts about limits together with schedules and switches."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.limits import Concurrency
from sempre.domain.planning import Verdict, plan_claim, plan_disable
from sempre.ports.messages import Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    first_row,
    moment_of,
    order_of,
    perform,
    read,
    session_of,
    succeed,
    view_of,
    wanted,
)
from sempre.testing.contracts.store.limit_builders import (
    ONE,
    claim_each,
    limited,
    opened,
    parked,
)


def test_a_parked_slot_starts_later_and_writes_its_successor(store: Store) -> None:
    """The schedule goes on from the slot that waited."""
    session, limits = session_of(store), (Concurrency(1, tag="both"),)
    first = claimed(store, enqueued(store, limits=limits), session)
    row = due_schedule(store, limits=limits).rows[0]
    assert claim_each(store, [row.id], session) == [None]
    assert first_row(store).id == row.id

    succeed(store, first)
    assert [each.id for each in opened(store, row.id).freed] == [row.id]
    begun = claimed(store, row.id, session)

    assert begun.run_at == row.run_at
    assert first_row(store).run_at == row.run_at + HOUR


def test_a_parked_slot_of_a_disabled_schedule_ends(store: Store) -> None:
    """Nothing of a stopped schedule is freed."""
    session, limits = session_of(store), (Concurrency(1, tag="both"),)
    first = claimed(store, enqueued(store, limits=limits), session)
    row = due_schedule(store, limits=limits).rows[0]
    claim_each(store, [row.id], session)

    perform(store, plan_disable)

    assert not read(store, row.id).is_live
    succeed(store, first)
    assert opened(store, row.id).freed == ()
    assert view_of(store).schedule.next_run_at is None


def test_a_switch_that_is_turned_on_leaves_parked_rows_parked(store: Store) -> None:
    """A switch frees only the rows that it held."""
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    switch = Switch("stop", "job:mail", "hold")
    store.switch(switch, off=True)
    born = enqueued(store, limits=ONE)
    assert read(store, born).held_by == "stop"

    store.switch(switch, off=False)

    assert read(store, born).held_by == ""
    assert parked(store, ids) == [ids[1]]


def test_limited_work_that_a_switch_stops_is_held_by_a_plan(store: Store) -> None:
    """One-off work waits under either mode of switch."""
    for mode in ("hold", "reject"):
        [identity] = limited(store, 1, tags=("night",))
        switch = Switch("stop", "tag:night", "hold" if mode == "hold" else "reject")
        store.switch(switch, off=True)
        [found] = [each for each in store.due(wanted()).value if each.execution.id == identity]

        claim = plan_claim(None, found.execution, (), moment_of(store), stopped_by=found.stopped_by)
        assert claim.verdict is Verdict.WAIT
        assert store.apply([order_of(claim.plan)]) == [True]

        assert read(store, identity).held_by == "stop"
        store.switch(switch, off=False)
        assert read(store, identity).held_by == ""
        store.cancel([identity])


def test_no_claim_of_a_stopped_row_with_a_limit_commits(store: Store) -> None:
    """A refusal by a switch does not park the row under its limit."""
    session, [identity] = session_of(store), limited(store, 1)
    order = claim_order(store, identity)
    store.switch(Switch("stop", "job:mail", "hold"), off=True)

    assert store.claim([order], session=session) == [None]
    assert read(store, identity).held_by == ""
