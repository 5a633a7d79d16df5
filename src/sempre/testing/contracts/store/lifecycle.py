"""Contracts of the store itself: set up once, known by an identity, closed more than once."""

# ruff: noqa: S101 - a contract asserts

from dataclasses import asdict

from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    LEASE,
    at_once,
    claimed,
    due_schedule,
    enqueued,
    now_of,
    read,
    session_of,
    view_of,
    wanted,
)


def test_setting_up_again_changes_nothing(store: Store) -> None:
    """Every process upgrades the store at start, and several processes start at once."""
    view, mail = due_schedule(store), read(store, enqueued(store))

    store.upgrade()
    at_once(store.upgrade, store.upgrade, store.upgrade)

    assert view_of(store) == view
    assert read(store, mail.id) == mail


def test_a_store_has_an_identity_that_stays(store: Store) -> None:
    """Tickets carry the identity, so that two stores can share a broker."""
    identity = store.uuid

    store.upgrade()

    assert identity
    assert store.uuid == identity


def test_a_copy_of_a_store_gets_an_identity_of_its_own_and_keeps_the_rest(store: Store) -> None:
    """Otherwise the copy would take the tickets of the original if both use one broker."""
    original, view = store.uuid, due_schedule(store)

    store.upgrade(as_copy=True)

    identity = store.uuid
    assert identity not in ("", original)
    assert view_of(store) == view
    store.upgrade()
    assert store.uuid == identity


def test_a_tick_tells_the_identity_of_the_store(store: Store) -> None:
    """The identity shows a worker that the store was replaced."""
    session = session_of(store)
    assert store.tick(session, wanted(), lease=LEASE).value.store == store.uuid

    store.upgrade(as_copy=True)

    told = store.tick(session, wanted(), lease=LEASE).value.store
    assert told == store.uuid
    assert not store.tick("nobody", wanted(), lease=LEASE).value.alive
    assert store.tick("nobody", wanted(), lease=LEASE).value.store == told


def test_fences_go_on_above_those_of_the_store_before(store: Store) -> None:
    """The caller who sets up an emptied store passes the last known fence; fences never go back."""
    session = session_of(store)

    def fence() -> int:
        return claimed(store, enqueued(store), session).fence

    first = fence()
    store.upgrade(fence=first + 1000)
    second = fence()
    at_once(*[lambda each=each: store.upgrade(fence=each) for each in (5000, 1, 7000)])
    third = fence()
    store.upgrade(fence=1)

    assert second > first + 1000
    assert third > max(second, 7000)
    assert fence() > third


def test_a_store_declares_what_it_can_do(store: Store) -> None:
    """Each capability is a yes or no; a commit can only be shared where it lasts."""
    declared = asdict(store.capabilities)

    assert all(isinstance(answer, bool) for answer in declared.values())
    assert store.capabilities.durable or not store.capabilities.transactional


def test_a_store_tells_what_it_promises_less_than_others(store: Store) -> None:
    """One sentence per weaker promise, constant for one configuration; normally none."""
    told = store.weaker_promises

    assert isinstance(told, tuple)
    assert all(sentence.strip() for sentence in told)
    assert store.weaker_promises == told


def test_reading_changes_nothing(store: Store) -> None:
    """No number of reads makes a row due, or leases or renews anything."""
    view = due_schedule(store)
    session_of(store)
    sessions = store.sessions().value

    for _ in range(2):
        store.candidates([view.rows[0].id])
        store.expired(10)
        store.needing_repair(tzdata="2999.1", limit=10)
        store.slice(after="", limit=10)
        store.switches()
        assert store.last_pass().value.holder == ""

    assert view_of(store) == view
    assert store.sessions().value == sessions
    assert now_of(store) >= view.schedule.created_at


def test_a_store_can_be_closed_twice(store: Store) -> None:
    """A caller need not know whether the store is closed already."""
    store.close()
    store.close()
