"""Contracts about limits: a claim never exceeds one, and parks what has to wait."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.limit_keys import parked_under
from sempre.domain.limits import Concurrency
from sempre.domain.states import State
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    read,
    session_of,
    wanted,
    work_of,
)
from sempre.testing.contracts.store.limit_builders import (
    ONE,
    claim_each,
    limited,
    parked,
)

# Concurrency


def test_a_claim_beyond_a_limit_is_refused_and_parks_the_row(store: Store) -> None:
    """The parked row names the limit and its number."""
    session, ids = session_of(store), limited(store, 3, limits=(Concurrency(2),))

    begun = [claim_each(store, [each], session)[0] for each in ids]

    assert [row is not None for row in begun] == [True, True, False]
    row = read(store, ids[2])
    assert row.is_live
    assert row.held_by == parked_under("concurrency:job:mail")
    assert row.reason == "held by limit: 2 runs at once of mail"


def test_claims_of_one_operation_respect_a_limit(store: Store) -> None:
    """Each claim of a batch counts those before it."""
    session, ids = session_of(store), limited(store, 4, limits=(Concurrency(2),))

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, True, False, False]
    assert parked(store, ids) == ids[2:]


def test_a_repeated_claim_under_a_full_limit_gives_the_first_answer(store: Store) -> None:
    """The running execution does not stand in its own way."""
    session, [identity] = session_of(store), limited(store, 1)
    order = claim_order(store, identity)
    [first] = store.claim([order], session=session)

    [again] = store.claim([order], session=session)

    assert first is not None
    assert again == first


def test_each_value_of_a_key_has_a_limit_of_its_own(store: Store) -> None:
    """Other tenants start while one has no room."""
    session, limits = session_of(store), (Concurrency(1, key=["tenant"]),)
    ids = [enqueued(store, limits=limits, args={"tenant": each}) for each in (1, 1, 2, 2)]

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, False, True, False]
    assert read(store, ids[1]).held_by == 'limit:concurrency:job:mail:{"tenant":1}'


def test_jobs_share_the_limit_of_a_tag(store: Store) -> None:
    """A tag counts the runs of every job that names it."""
    session, limits = session_of(store), (Concurrency(1, tag="smtp"),)
    ids = [enqueued(store, job=job, name=job, limits=limits) for job in ("mail", "bill")]

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, False]
    assert read(store, ids[1]).held_by == "limit:concurrency:tag:smtp"


def test_a_long_or_secret_key_is_stored_as_a_digest(store: Store) -> None:
    """People see the key, and a column has a limited length."""
    session = session_of(store)
    for name, value in (("tenant", "x" * 5000), ("password", "hunter2"), ("tenant", "è")):
        limits = (Concurrency(1, key=[name]),)
        ids = [enqueued(store, limits=limits, args={name: value}) for _ in range(2)]
        begun = claim_each(store, ids, session)

        assert [row is not None for row in begun] == [True, False]
        assert "hunter2" not in read(store, ids[1]).held_by


def test_alike_work_with_a_keyed_limit_is_counted_by_its_arguments(store: Store) -> None:
    """The bulk path must not give all rows one key."""
    session, limits = session_of(store), (Concurrency(1, key=["tenant"]),)
    works = [work_of(store, limits=limits, args={"tenant": each}) for each in (1, 1, 2)]
    store.enqueue(works)

    begun = claim_each(store, [work.execution.id for work in works], session)

    assert [row is not None for row in begun] == [True, False, True]


def test_a_full_limit_parks_the_other_due_rows_too(store: Store) -> None:
    """Workers do not read rows in vain that cannot start; rows that are not due stay."""
    session, ids = session_of(store), limited(store, 5)
    later = enqueued(store, limits=ONE, due_in=HOUR)
    other = enqueued(store, limits=(Concurrency(1, tag="other"),))
    claimed(store, ids[0], session)

    assert claim_each(store, [ids[3]], session) == [None]

    assert parked(store, [*ids, later, other]) == ids[1:]
    assert [each.execution.id for each in store.due(wanted()).value] == [other]


def test_a_parked_row_is_neither_due_nor_waiting(store: Store) -> None:
    """No query of a worker returns the row: parked rows cost no polling."""
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)

    assert store.due(wanted()).value == []
    assert store.due_ids(wanted(), within=HOUR).value == []
    assert store.waiting(None, horizon=HOUR, after="", limit=10).value.items == ()
    assert store.unannounced(horizon=HOUR, limit=10).value == []
    assert store.next_due(wanted()).value is None
    assert read(store, ids[1]).is_live


def test_limited_one_off_work_is_due_and_no_hot_claim_takes_it(store: Store) -> None:
    """Only planned claims check limits."""
    session, [identity] = session_of(store), limited(store, 1)

    assert store.claim_one_off(wanted(), session=session).value == []
    assert store.claim_one_off(wanted(), session=session, ids=[identity]).value == []
    assert [each.execution.id for each in store.due(wanted()).value] == [identity]
    assert store.due_ids(wanted(), within=HOUR).value == [identity]


def test_unlimited_work_starts_beside_a_full_limit(store: Store) -> None:
    """A full limit stops its own executions only."""
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    free = enqueued(store)
    row = due_schedule(store).rows[0]

    assert [each.id for each in store.claim_one_off(wanted(), session=session).value] == [free]
    assert claimed(store, row.id, session).state is State.RUNNING
