"""Contracts of workers that drain, and of executions that are held back."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.action import Action
from sempre.domain.values import copy_with
from sempre.ports.messages import ActionQuery, Session, Settled, Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    LEASE,
    claimed,
    due_schedule,
    enqueued,
    expire,
    new_id,
    session_of,
    succeed,
    wanted,
)


def test_a_worker_that_is_drained_learns_it_from_every_tick(store: Store) -> None:
    """Of the drained session only; the request may come twice."""
    session, other = session_of(store), session_of(store)
    assert not store.tick(session, wanted(), lease=LEASE).value.drain

    answers = [store.drain([session]), store.drain([session])]

    assert answers == [[True], [True]]
    ticks = [store.tick(session, wanted(), lease=LEASE).value for _ in range(2)]
    assert [(tick.alive, tick.drain) for tick in ticks] == [(True, True), (True, True)]
    assert not store.tick(other, wanted(), lease=LEASE).value.drain
    draining = {each.id: each.draining for each in store.sessions().value}
    assert draining == {session: True, other: False}


def test_a_drain_is_answered_for_each_session_in_order(store: Store) -> None:
    """A session that does not exist is not created by the request."""
    session, retired = session_of(store), session_of(store)
    store.retire(retired)

    answers = store.drain([new_id(), session, retired, session])

    assert answers == [False, True, False, True]
    assert [each.id for each in store.sessions().value] == [session]
    assert store.drain([]) == []
    assert not store.tick(retired, wanted(), lease=LEASE).value.drain


def test_a_drain_is_logged_for_each_session_that_exists(store: Store) -> None:
    """In the same commit; a request for a session that is gone leaves no entry."""
    gone, session = new_id(), session_of(store)
    actions = [
        Action(id=new_id(), verb="drain", target=f"worker:{each}", actor="ann", note="patches")
        for each in (gone, session)
    ]

    store.drain([gone, session], actions=actions)

    [logged] = store.actions(ActionQuery(verb="drain")).value.items
    assert (logged.id, logged.target, logged.actor) == (actions[1].id, f"worker:{session}", "ann")


def test_a_worker_that_drains_still_settles_its_runs(store: Store) -> None:
    """A drain takes nothing from the session: neither its lease nor its runs."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)

    store.drain([session])

    tick = store.tick(session, wanted(), lease=LEASE).value
    assert tick.held == frozenset({row.fence})
    assert succeed(store, row) is Settled.DONE


def test_an_expired_session_that_is_renewed_still_drains(store: Store) -> None:
    """The request lasts as long as the session."""
    session = session_of(store)
    store.drain([session])
    expire(store, session)

    assert store.tick(session, wanted(), lease=LEASE).value.drain


def test_a_session_that_is_registered_again_is_not_draining(store: Store) -> None:
    """A registration begins the session anew."""
    session = Session(new_id(), host="worker")
    store.register(session, lease=LEASE)
    store.drain([session.id])

    again = store.register(session, lease=LEASE)

    assert store.sessions().value == [again.value]
    assert again.value == copy_with(again.value, draining=False)
    assert not store.tick(session.id, wanted(), lease=LEASE).value.drain


def test_held_executions_are_listed_until_their_switch_is_on(store: Store) -> None:
    """One-off work that a switch holds, up to the limit; other work is left out."""
    free = enqueued(store)
    switch = Switch("stop", "queue:slow", mode="hold")
    store.switch(switch, off=True)
    ids = {enqueued(store, queue="slow") for _ in range(3)}

    held = store.held(limit=10).value

    assert {each.id for each in held} == ids
    assert {each.queue for each in held} == {"slow"}
    assert free not in ids
    two = 2
    assert len(store.held(limit=two).value) == two
    store.switch(switch, off=False)
    assert store.held(limit=10).value == []
