"""Contracts about limits under races: however many claim at once, no limit is exceeded."""

# ruff: noqa: S101 - a contract asserts

from collections import Counter
from functools import partial

from sempre.domain.execution import Execution
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.states import State
from sempre.ports.messages import Order
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    at_once,
    claim_order,
    due_schedule,
    session_of,
    succeed,
    wanted,
)
from sempre.testing.contracts.store.limit_builders import limited, opened, parked

WORKERS = 6
AT_ONCE = 2


def test_many_claims_at_once_never_exceed_a_limit(store: Store) -> None:
    """Each worker claims other rows of one limit, so that no row arbitrates."""
    ids, session = limited(store, 2 * WORKERS, limits=(Concurrency(AT_ONCE),)), session_of(store)
    orders = [claim_order(store, each) for each in ids]

    answers = at_once(
        *(partial(store.claim, orders[place::WORKERS], session=session) for place in range(WORKERS))
    )

    begun = [row for answer in answers for row in answer if row is not None]
    assert len(begun) == AT_ONCE
    assert len(parked(store, ids)) == len(ids) - AT_ONCE


def test_many_claims_at_once_never_exceed_a_rate(store: Store) -> None:
    """Starts are counted under the lock too."""
    ids, session = limited(store, 2 * WORKERS, limits=(Rate(f"{AT_ONCE}/h"),)), session_of(store)
    orders = [claim_order(store, each) for each in ids]

    answers = at_once(
        *(partial(store.claim, orders[place::WORKERS], session=session) for place in range(WORKERS))
    )

    assert sum(row is not None for answer in answers for row in answer) == AT_ONCE


def test_claims_of_several_limits_in_any_order_all_end(store: Store) -> None:
    """Limits are locked in one order, so that claims never wait for each other in a circle."""
    session = session_of(store)
    tags = ("a", "b", "c", "d")
    limits = {tag: (Concurrency(AT_ONCE, tag=tag), Rate("3/h", tag=tag)) for tag in tags}
    ids = {tag: limited(store, WORKERS, limits=limits[tag]) for tag in tags}
    slots = [
        due_schedule(store, f"slot-{tag}", limits=limits[tag], overlap="allow").rows[0].id
        for tag in tags
    ]

    def orders(place: int) -> list[Order]:
        turned = tags[place % 4 :] + tags[: place % 4]
        chosen = [ids[tag][place] for tag in turned] + (slots if place == 0 else [])
        return [claim_order(store, each) for each in chosen]

    planned = [orders(place) for place in range(WORKERS)]
    at_once(*(partial(store.claim, each, session=session) for each in planned))

    running = store.running(session).value
    assert Counter(row.snapshot.limits for row in running) == dict.fromkeys(
        limits.values(), AT_ONCE
    )


def test_a_backlog_drains_under_races_and_nothing_stays_parked(store: Store) -> None:
    """Whoever settles or is refused opens the limit: no wake-up is lost."""
    ids = limited(store, 20, limits=(Concurrency(AT_ONCE),))
    sessions = [session_of(store) for _ in range(3)]

    def work(session: str) -> int:
        done = 0
        while due := [each.execution.id for each in store.due(wanted(limit=2)).value]:
            for row in _claimed(store, due, session):
                succeed(store, row)
                done += 1
            opened(store, ids[0])
        return done

    while sum(at_once(*(partial(work, session) for session in sessions))):
        opened(store, ids[0])

    assert parked(store, ids) == []
    left = [each.execution for each in store.candidates(ids).value]
    assert {row.state for row in left} == {State.SUCCEEDED}


def _claimed(store: Store, ids: list[str], session: str) -> list[Execution]:
    """Claim the executions that still wait and may start."""
    begun = []
    for each in ids:
        try:
            order = claim_order(store, each)
        except AssertionError:  # another worker has claimed or parked the row
            continue
        begun += [row for row in store.claim([order], session=session) if row is not None]
    return begun
