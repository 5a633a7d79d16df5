"""Contracts about executions that wait for limits: who goes on when, and in which order."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta

from sempre.domain.limits import Concurrency
from sempre.domain.planning import plan_failure
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.ports.limits import Opened
from sempre.ports.messages import Cancelled, Settlement
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    claimed,
    enqueued,
    expire,
    hasten,
    moment_of,
    now_of,
    read,
    rescued,
    session_of,
    succeed,
)
from sempre.testing.contracts.store.limit_builders import (
    ONE,
    claim_each,
    limited,
    opened,
    parked,
)


def test_a_settlement_makes_room_and_the_freed_row_is_due_now(store: Store) -> None:
    """The wait for a limit is not lateness, and the slot never moves."""
    session, ids = session_of(store), limited(store, 3)
    first, *_ = claim_each(store, ids, session)
    assert first is not None
    assert opened(store, *ids).freed == ()
    run_at, before = read(store, ids[1]).run_at, now_of(store)

    succeed(store, first)
    freed = opened(store, *ids).freed

    row = read(store, ids[1])
    assert [each.id for each in freed] == [ids[1]]
    assert (row.held_by, row.reason, row.run_at) == ("", "", run_at)
    assert before <= row.due_at <= now_of(store)
    assert freed[0].due_at == row.due_at
    assert parked(store, ids) == [ids[2]]
    claimed(store, ids[1], session)


def test_a_rescue_makes_room(store: Store) -> None:
    """A lost run counts until it is taken back."""
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    expire(store, session)
    rescued(store, ids[0])

    assert [each.id for each in opened(store, *ids).freed] == [ids[1]]


def test_a_cancelled_parked_row_ends_and_is_freed_no_more(store: Store) -> None:
    """An ended row keeps no place among the parked ones."""
    session, ids = session_of(store), limited(store, 3)
    first, *_ = claim_each(store, ids, session)
    assert first is not None

    assert store.cancel([ids[1]]) == [Cancelled.ENDED]
    succeed(store, first)

    assert [each.id for each in opened(store, *ids).freed] == [ids[2]]
    assert read(store, ids[1]).state is State.CANCELLED


def test_a_freed_row_that_is_cancelled_leaves_its_room_to_the_next(store: Store) -> None:
    """Room is counted by running rows, not by freed ones."""
    session, ids = session_of(store), limited(store, 3)
    first, *_ = claim_each(store, ids, session)
    assert first is not None
    succeed(store, first)
    opened(store, *ids)

    store.cancel([ids[1]])

    assert [each.id for each in opened(store, *ids).freed] == [ids[2]]


def test_a_retry_waits_for_the_limit_like_a_first_start(store: Store) -> None:
    """Every start needs room."""
    session, retry = session_of(store), Retry(3, base="1s")
    ids = limited(store, 2, retry=retry)
    first, _ = claim_each(store, ids, session)
    assert first is not None
    plan = plan_failure(None, first, moment_of(store))
    store.settle([Settlement(first, plan)], session=session)
    opened(store, *ids)
    claimed(store, ids[1], session)
    hasten(store, ids[0])

    assert claim_each(store, [ids[0]], session) == [None]
    assert parked(store, ids) == [ids[0]]


def test_parked_rows_go_on_by_priority_then_by_slot(store: Store) -> None:
    """The order does not depend on when each row was parked."""
    session, running = session_of(store), limited(store, 1)
    [first] = claim_each(store, running, session)
    assert first is not None
    chosen = ((7, 1), (5, 2), (5, 3), (9, 4))
    ids = [
        enqueued(store, limits=ONE, priority=priority, due_in=-minutes * MINUTE)
        for priority, minutes in chosen
    ]
    claim_each(store, ids, session)
    order = []
    row = first

    for _ in ids:
        succeed(store, row)
        [freed] = opened(store, *ids).freed
        order.append(ids.index(freed.id))
        row = claimed(store, freed.id, session)

    assert order == [2, 1, 0, 3]


def test_a_row_that_comes_later_goes_behind_parked_rows(store: Store) -> None:
    """A newcomer does not overtake those that wait."""
    session, ids = session_of(store), limited(store, 2)
    first, _ = claim_each(store, ids, session)
    assert first is not None
    late = enqueued(store, limits=ONE, due_in=timedelta(0))
    succeed(store, first)

    assert claim_each(store, [late], session) == [None]
    assert parked(store, [*ids, late]) == [ids[1], late]
    assert [each.id for each in opened(store, late).freed] == [ids[1]]
    claimed(store, ids[1], session)


def test_a_row_starts_beside_parked_rows_if_there_is_room_for_all(store: Store) -> None:
    """A newcomer waits only if the parked rows need the room."""
    session, limits = session_of(store), (Concurrency(2),)
    ids = limited(store, 3, limits=limits)
    begun = claim_each(store, ids, session)
    late = enqueued(store, limits=limits, due_in=timedelta(0))
    for row in begun[:2]:
        assert row is not None
        succeed(store, row)

    assert claim_each(store, [late], session) != [None]


def test_opening_frees_as_many_rows_as_there_is_room_for(store: Store) -> None:
    """One row for each run that ended."""
    session, limits = session_of(store), (Concurrency(3),)
    ids = limited(store, 8, limits=limits)
    begun = claim_each(store, ids, session)
    for row in begun[:2]:
        assert row is not None
        succeed(store, row)

    assert [each.id for each in opened(store, *ids).freed] == ids[3:5]


def test_without_keys_every_limit_is_opened_page_by_page(store: Store) -> None:
    """A sweep finds every limit with parked rows by an index."""
    session = session_of(store)
    for tag in ("a", "b", "c"):
        limits = (Concurrency(1, tag=tag),)
        first, _ = claim_each(store, limited(store, 2, limits=limits), session)
        assert first is not None
        succeed(store, first)

    freed, after = [], ""
    for _ in range(2):
        page = store.open_limits(None, limit=2, after=after).value
        after = page.last
        freed.append(len(page.freed))

    assert (freed, after) == ([2, 1], "")
    assert store.open_limits(None, limit=2).value == Opened()
