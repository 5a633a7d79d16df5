"""Contracts of uniqueness: a duplicate is a receipt that names the one that exists."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta
from typing import Literal

from sempre.domain.planning import plan_release
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import Cancelled, Enqueued, Settled, Settlement, UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    enqueued,
    moment_of,
    now_of,
    read,
    session_of,
    succeed,
    wanted,
    work_of,
)

_Mode = Literal["live", "active", "period"]


def _put(
    store: Store, mode: _Mode = "active", *, key: str = "k", period: timedelta = HOUR
) -> Enqueued:
    [receipt] = store.enqueue([work_of(store, unique=UniqueKey(key, mode, period))])
    return receipt


def _start(store: Store) -> None:
    assert len(store.claim_one_off(wanted(), session=session_of(store)).value) == 1


def test_unique_among_the_live_ones_lets_one_wait_while_another_runs(store: Store) -> None:
    """At most one execution waits; a running execution does not block the key."""
    first = _put(store, "live")
    assert _put(store, "live") == Enqueued(first.id, created=False)
    _start(store)

    second = _put(store, "live")

    assert second.created
    assert _put(store, "live") == Enqueued(second.id, created=False)


def test_unique_among_the_active_ones_counts_a_running_one(store: Store) -> None:
    """An execution that waits for a retry, or was released, counts too."""
    first = _put(store)
    assert _put(store) == Enqueued(first.id, created=False)
    session = session_of(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    assert _put(store) == Enqueued(first.id, created=False)
    plan = plan_release(None, row, moment_of(store))
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]

    assert _put(store) == Enqueued(first.id, created=False)


def test_an_execution_that_is_over_frees_its_key(store: Store) -> None:
    """For both modes that count unfinished executions."""
    for mode in ("active", "live"):
        first = _put(store, mode)
        assert first.created
        [row] = store.claim_one_off(wanted(), session=session_of(store)).value
        succeed(store, row)

        second = _put(store, mode)

        assert second.created
        assert second.id != first.id
        store.cancel([second.id])


def test_a_cancelled_execution_frees_its_key(store: Store) -> None:
    """The cancelled execution will not run, so another may."""
    first = _put(store)
    assert store.cancel([first.id]) == [Cancelled.ENDED]

    assert _put(store).created


def test_a_period_counts_from_when_work_was_put_in(store: Store) -> None:
    """In any state of the work; after the period the key is free."""
    first = _put(store, "period")
    _start(store)
    assert _put(store, "period") == Enqueued(first.id, created=False)
    succeed(store, read(store, first.id))

    assert _put(store, "period") == Enqueued(first.id, created=False)

    born = read(store, first.id).created_at
    while now_of(store) <= born:  # pragma: no cover - a clock finer than a round trip
        pass
    assert _put(store, "period", period=timedelta(0)).created


def test_a_batch_holds_each_key_once(store: Store) -> None:
    """Work with the key of earlier work in the call is a duplicate."""
    keys = ["a", "b", "a", "c", "b", "a"]
    works = [work_of(store, unique=UniqueKey(key)) for key in keys]

    receipts = store.enqueue(works)

    assert [each.created for each in receipts] == [True, True, False, True, False, False]
    ids = [work.execution.id for work in works]
    expected = [ids[0], ids[1], ids[0], ids[3], ids[1], ids[0]]
    assert [each.id for each in receipts] == expected
    assert len(store.candidates(ids).value) == len({*expected})


def test_a_repeated_id_is_not_its_own_duplicate(store: Store) -> None:
    """Work that is enqueued again after a lost reply counts as created."""
    work = work_of(store, unique=UniqueKey("k"))

    receipts = [*store.enqueue([work]), *store.enqueue([work, work])]

    assert receipts == [Enqueued(work.execution.id)] * 3


def test_keys_are_told_apart_by_case(store: Store) -> None:
    """Keys are compared as exact text of any length, not by a collation."""
    long = "k" * 1000
    for key in ("k", "K", "ḱ", "k ", long, f"{long}1"):
        assert _put(store, key=key).created, key
        assert not _put(store, key=key).created, key


def test_work_without_a_key_is_never_a_duplicate(store: Store) -> None:
    """Not even if all else is equal."""
    work = work_of(store)
    twin = copy_with(work, execution=copy_with(work.execution, id=work_of(store).execution.id))
    assert _put(store).created

    assert all(receipt.created for receipt in store.enqueue([work, twin]))
    assert read(store, enqueued(store)).state is State.PENDING
