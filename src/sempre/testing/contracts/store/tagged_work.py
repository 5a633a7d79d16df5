"""Contracts of one-off work under switches: by the tags of its job, and every rejection counts."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta
from typing import Literal

from sempre.domain.switch import Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    claim_order,
    enqueued,
    now_of,
    read,
    session_of,
    wanted,
    work_of,
)

_MODES: tuple[Literal["reject", "hold"], ...] = ("reject", "hold")
REJECT = Switch("incident", "tag:eu")
HOLD = Switch("incident", "tag:eu", "hold")


def test_new_work_is_stopped_by_a_tag_of_its_job(store: Store) -> None:
    """Rejected work has no row; held work waits."""
    store.switch(REJECT, off=True)
    works = [work_of(store, tags=("de", "eu")), work_of(store, tags=("eu-west",))]
    rejected, free = store.enqueue(works)
    assert (rejected.created, rejected.rejected_by) == (False, "incident")
    assert free.created

    store.switch(HOLD, off=True)
    [held] = store.enqueue([work_of(store, tags=("eu",))])

    assert held.created
    assert read(store, held.id).held_by == "incident"


def test_a_switch_by_tag_stops_work_that_waits_already(store: Store) -> None:
    """Neither a claim nor a take starts such work before the switch is on again."""
    for mode in _MODES:
        waiting = enqueued(store, tags=("eu",))
        order = claim_order(store, waiting)
        switch = Switch("incident", "tag:eu", mode)
        store.switch(switch, off=True)
        session = session_of(store)

        assert store.claim([order], session=session) == [None]
        assert store.claim_one_off(wanted(), session=session).value == []
        [found] = store.candidates([waiting]).value
        assert found.stopped_by is not None
        assert found.stopped_by.is_same_stop(switch)

        store.switch(switch, off=False)
        assert [row.id for row in store.claim_one_off(wanted(), session=session).value] == [waiting]


def test_work_behind_what_a_tag_stops_is_taken(store: Store) -> None:
    """With any amount of stopped work in front."""
    stopped = [enqueued(store, tags=("eu",), due_in=-HOUR) for _ in range(5)]
    free = enqueued(store)
    store.switch(HOLD, off=True)

    taken = store.claim_one_off(wanted(limit=1), session=session_of(store)).value

    assert [row.id for row in taken] == [free]
    store.switch(HOLD, off=False)
    taken = store.claim_one_off(wanted(), session=session_of(store)).value
    assert sorted(row.id for row in taken) == sorted(stopped)


def test_a_rejection_is_counted_until_the_switch_is_on_again(store: Store) -> None:
    """Turned off once more, the switch counts from 0."""
    store.switch(Switch("all", "all", "hold"), off=True)
    store.switch(Switch("all", "all", "hold"), off=False)
    switch = Switch("incident", "job:mail")
    store.switch(switch, off=True)
    store.enqueue([work_of(store), work_of(store)])
    store.enqueue([work_of(store), work_of(store, job="bill")])

    [found] = store.switches().value
    assert (found.name, found.rejected) == ("incident", 3)

    store.switch(switch, off=False)
    store.switch(switch, off=True)
    assert [each.rejected for each in store.switches().value] == [0]


def test_what_is_not_rejected_is_not_counted(store: Store) -> None:
    """Neither held work, nor work under a switch that has expired."""
    store.switch(Switch("held", "job:mail", "hold"), off=True)
    over = now_of(store) - timedelta(seconds=1)
    store.switch(Switch("over", "job:bill", until=over), off=True)

    store.enqueue([work_of(store), work_of(store, job="bill")])

    assert [(each.name, each.rejected) for each in store.switches().value] == [("held", 0)]
