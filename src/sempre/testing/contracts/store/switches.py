"""Contracts of switches: an off switch stops every start; on again, held rows are free."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.states import State
from sempre.ports.messages import Enqueued, Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    MINUTE,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    now_of,
    read,
    session_of,
    succeed,
    view_of,
    wanted,
    work_of,
)
from sempre.testing.polling import eventually


def _off(store: Store, target: str, **fields: object) -> Switch:
    switch = Switch("maintenance", target, **fields)  # type: ignore[arg-type]
    assert switch in store.switch(switch, off=True).value
    return switch


def _taken(store: Store) -> list[str]:
    return [row.id for row in store.claim_one_off(wanted(), session=session_of(store)).value]


def test_a_switch_reads_back_equal(store: Store) -> None:
    """Off switches are listed by name; on again removes the switch, and a repeat does nothing."""
    until = (now_of(store) + HOUR).replace(microsecond=123_457)
    first = Switch("b", "job:bill", "hold", reason="✗ deploy", actor="ana", until=until)
    second = Switch("a", "tag:eu")

    assert store.switch(first, off=True).value == [first]
    assert store.switch(second, off=True).value == [second, first]
    assert store.switches().value == [second, first]

    assert store.switch(first, off=False).value == [second]
    assert store.switch(first, off=False).value == [second]
    assert store.switch(second, off=False).value == []
    assert store.switches().value == []


def test_a_switch_turned_off_again_is_the_newer_one(store: Store) -> None:
    """One switch per name: a second off replaces mode and target."""
    _off(store, "job:bill", reason="first")

    second = Switch("maintenance", "job:mail", "hold", reason="second")

    assert store.switch(second, off=True).value == [second]


def test_a_switch_that_rejects_refuses_new_work_by_name(store: Store) -> None:
    """No row comes into being, and the receipt says why."""
    _off(store, "job:mail")
    work, other = work_of(store), work_of(store, job="bill")

    receipts = store.enqueue([work, other])

    rejected = Enqueued(work.execution.id, created=False, rejected_by="maintenance")
    assert receipts == [rejected, Enqueued(other.execution.id)]
    assert store.candidates([work.execution.id]).value == []


def test_a_held_row_is_live_but_nobodys(store: Store) -> None:
    """New work under a holding switch is written, and waits until the switch is on."""
    _off(store, "queue:default", mode="hold")

    identity = enqueued(store)

    row = read(store, identity)
    assert (row.state, row.held_by) == (State.PENDING, "maintenance")
    assert _taken(store) == []
    assert store.unannounced(horizon=HOUR, limit=10).value == []
    session = session_of(store)
    assert store.tick(session, wanted(), lease=LEASE).value.next_due_at is None


def test_on_again_held_rows_are_free(store: Store) -> None:
    """Rows held by this switch, not rows held by another switch."""
    other = Switch("other", "job:bill", "hold")
    store.switch(other, off=True)
    switch = _off(store, "job:mail", mode="hold")
    mail, bill = enqueued(store), enqueued(store, job="bill")

    store.switch(switch, off=False)

    assert read(store, mail).held_by == ""
    assert read(store, bill).held_by == "other"
    assert _taken(store) == [mail]


def test_work_of_before_the_switch_waits(store: Store) -> None:
    """In either mode: no work of the target starts while the switch is off."""
    identity = enqueued(store)
    for mode in ("reject", "hold"):
        switch = _off(store, "job:mail", mode=mode)
        assert _taken(store) == []
        store.switch(switch, off=False)

    assert _taken(store) == [identity]


def test_no_claim_of_what_is_off_commits(store: Store) -> None:
    """A claim that was planned earlier is refused too; rows of schedules are unchanged."""
    [row] = due_schedule(store, tags=["eu"]).rows
    session = session_of(store)
    for target in ("job:bill", "queue:default", "tag:eu", "all"):
        for mode in ("reject", "hold"):
            view = view_of(store)
            order = claim_order(store, row.id)
            switch = _off(store, target, mode=mode)
            assert store.claim([order], session=session) == [None], switch
            assert view_of(store) == view
            store.switch(switch, off=False)

    assert claimed(store, row.id, session).state is State.RUNNING


def test_a_switch_that_holds_leaves_its_rows_out_of_due(store: Store) -> None:
    """The rows are due again when the switch is on."""
    view = due_schedule(store)
    switch = _off(store, "job:bill", mode="hold")
    assert store.due(wanted()).value == []

    store.switch(switch, off=False)

    assert [each.execution.id for each in store.due(wanted()).value] == [view.rows[0].id]


def test_a_switch_stops_only_its_target(store: Store) -> None:
    """By whole names."""
    _off(store, "job:mai")
    mail = enqueued(store)
    eu, us = due_schedule(store, "eu", tags=["eu"]), due_schedule(store, "us", tags=["us"])
    store.switch(Switch("europe", "tag:eu", "hold"), off=True)
    store.switch(Switch("slow", "queue:slow", "hold"), off=True)
    slow = work_of(store, queue="slow")
    store.enqueue([slow])
    session = session_of(store)

    assert _taken(store) == [mail]
    assert [each.execution.id for each in store.due(wanted()).value] == [us.rows[0].id]
    assert store.claim([claim_order(store, eu.rows[0].id)], session=session) == [None]
    assert read(store, slow.execution.id).held_by == "slow"


def test_everything_can_be_stopped(store: Store) -> None:
    """By one switch."""
    bill, mail = due_schedule(store).rows[0], enqueued(store)
    switch = _off(store, "all", mode="hold")
    held = enqueued(store)

    assert _taken(store) == []
    assert store.due(wanted()).value == []

    store.switch(switch, off=False)
    assert set(_taken(store)) == {mail, held}
    assert [each.execution.id for each in store.due(wanted()).value] == [bill.id]


def test_the_running_ones_of_a_switch_go_on(store: Store) -> None:
    """A switch stops starts, not running executions."""
    row = claimed(store, due_schedule(store).rows[0].id, session_of(store))

    _off(store, "all")

    succeed(store, row)
    assert read(store, row.id).state is State.SUCCEEDED


def test_a_switch_that_is_over_when_it_is_set_stops_nothing(store: Store) -> None:
    """The end of the switch is judged by the store's clock."""
    switch = Switch("maintenance", "all", until=now_of(store) - MINUTE)

    assert store.switch(switch, off=True).value == []

    identity = enqueued(store)
    assert _taken(store) == [identity]


def test_a_switch_whose_time_is_over_frees_what_it_held(store: Store) -> None:
    """As if the switch had been turned on."""
    _off(store, "all", mode="hold")
    held = enqueued(store)
    assert read(store, held).held_by == "maintenance"

    over = Switch("maintenance", "all", "hold", until=now_of(store) - MINUTE)
    assert store.switch(over, off=True).value == []

    assert _taken(store) == [held]


def test_a_switch_goes_on_again_by_itself(store: Store) -> None:
    """After its end the switch stops nothing; the next tick frees the held rows."""
    view = due_schedule(store)
    until = now_of(store) + timedelta(milliseconds=50)
    store.switch(Switch("maintenance", "all", "hold", until=until), off=True)
    held = enqueued(store)
    eventually(lambda: now_of(store) >= until)
    assert store.switches().value == []

    store.tick(session_of(store), wanted(), lease=LEASE)

    assert _taken(store) == [held]
    assert [each.execution.id for each in store.due(wanted()).value] == [view.rows[0].id]
    assert claimed(store, view.rows[0].id, session_of(store)).state is State.RUNNING
