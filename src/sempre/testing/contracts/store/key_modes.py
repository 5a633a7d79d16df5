"""Contracts of unique keys: the mode of new work counts, and no retry waits beside new work."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta
from functools import partial
from typing import Literal

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_failure, plan_release, plan_success
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.ports.messages import Cancelled, Enqueued, Settled, Settlement, UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    at_once,
    expire,
    moment_of,
    read,
    rescued,
    session_of,
    succeed,
    wanted,
    work_of,
)

_Mode = Literal["live", "active", "period"]


def _put(store: Store, mode: _Mode = "live", *, period: timedelta = HOUR) -> Enqueued:
    work = work_of(store, unique=UniqueKey("k", mode, period), retry=Retry(3))
    [receipt] = store.enqueue([work])
    return receipt


def _run(store: Store, mode: _Mode = "live", *, session: str = "") -> Execution:
    """Enqueue work and start the execution, by default for a new session."""
    receipt = _put(store, mode)
    assert receipt.created
    [row] = store.claim_one_off(wanted(), session=session or session_of(store)).value
    assert row.id == receipt.id
    return row


def _failure(store: Store, row: Execution) -> Settlement:
    return Settlement(row, plan_failure(None, row, moment_of(store), error="boom"), error="boom")


def _fail(store: Store, row: Execution) -> Execution:
    """Settle an attempt as failed, with a retry planned, and return the new row."""
    assert store.settle([_failure(store, row)], session=row.session) == [Settled.DONE]
    return read(store, row.id)


def test_a_retry_whose_key_was_taken_fails_as_coalesced(store: Store) -> None:
    """The other one does the work; the attempt is on record, and a repeated settlement is done."""
    row = _run(store)
    other = _put(store)

    failed = _fail(store, row)

    assert (failed.state, failed.reason) == (State.FAILED, f"coalesced into {other.id}")
    assert (failed.failures, failed.due_at, failed.session) == (1, row.due_at, row.session)
    assert failed.finished_at is not None
    [attempt] = store.attempts(row.id).value
    assert (attempt.state, attempt.error) == (State.FAILED, "boom")
    assert store.settle([_failure(store, row)], session=row.session) == [Settled.DONE]
    assert [each.id for each in store.claim_one_off(wanted(), session=row.session).value] == [
        other.id
    ]


def test_a_released_or_rescued_run_is_coalesced_too(store: Store) -> None:
    """Every change that would make the run wait again."""
    first = _run(store)
    second = _run(store)
    third = _put(store)
    plan = plan_release(None, first, moment_of(store))
    assert store.settle([Settlement(first, plan)], session=first.session) == [Settled.DONE]
    expire(store, second.session)

    for row in (read(store, first.id), rescued(store, second.id)):
        assert (row.state, row.reason) == (State.FAILED, f"coalesced into {third.id}")


def test_a_retry_whose_key_is_free_holds_it_again(store: Store) -> None:
    """Work enqueued meanwhile has ended; the next newcomer finds the retry."""
    row = _run(store)
    other = _put(store)
    assert store.cancel([other.id]) == [Cancelled.ENDED]

    assert _fail(store, row).is_live

    for mode in ("live", "active"):
        assert _put(store, mode) == Enqueued(row.id, created=False)


def test_a_newcomer_waits_for_an_older_one_though_a_newer_one_is_over(store: Store) -> None:
    """Every earlier execution of the key counts, not only the newest."""
    older = _run(store)
    succeed(store, _run(store))

    assert _put(store, "active") == Enqueued(older.id, created=False)
    assert _put(store, "live").created


def test_each_newcomer_is_judged_by_the_mode_it_asks_for(store: Store) -> None:
    """The modes of earlier work do not count; each retry is judged by its own mode."""
    first = _run(store, "active")
    assert _put(store, "active") == Enqueued(first.id, created=False)
    assert _put(store, "period") == Enqueued(first.id, created=False)
    second = _put(store, "live")
    assert second.created
    third = _put(store, "period", period=timedelta(0))
    assert third.created
    assert _put(store, "period") == Enqueued(third.id, created=False)

    failed = _fail(store, first)

    assert failed.state is State.FAILED
    assert failed.reason in {f"coalesced into {each.id}" for each in (second, third)}
    taken = store.claim_one_off(wanted(), session=first.session).value
    assert {row.id for row in taken} == {second.id, third.id}
    [early, late] = sorted(taken, key=lambda row: row.id != second.id)
    assert _fail(store, late).is_live
    assert _fail(store, early).reason == f"coalesced into {third.id}"


def test_the_retries_of_one_batch_leave_one_waiting(store: Store) -> None:
    """Each retry is judged after the earlier retries of the call."""
    session = session_of(store)
    rows = [_run(store, session=session) for _ in range(4)]
    last = Settlement(rows[0], plan_success(rows[0], moment_of(store)))
    batch = [*(_failure(store, row) for row in rows[1:]), last]

    assert store.settle(batch, session=session) == [Settled.DONE] * len(rows)

    _check_one_waits(store, rows[1:])
    assert read(store, rows[1].id).is_live


def test_a_retry_and_a_newcomer_at_once_leave_one_waiting(store: Store) -> None:
    """Either the newcomer is a duplicate, or the retry is coalesced into the newcomer."""
    for _ in range(5):
        row = _run(store)

        def put() -> str:
            return _put(store).id

        def fail(row: Execution = row) -> str:
            return _fail(store, row).id

        [identity, _] = at_once(put, fail)

        retried = read(store, row.id)
        assert retried.is_live == (identity == row.id)
        if not retried.is_live:
            assert retried.reason == f"coalesced into {identity}"
        assert read(store, identity).is_live
        store.cancel([identity])


def test_many_retries_of_one_key_at_once_leave_one_waiting(store: Store) -> None:
    """All were running, as the mode allows; only one retry may wait."""
    rows = [_run(store) for _ in range(6)]

    at_once(*(partial(_fail, store, row) for row in rows))

    _check_one_waits(store, rows)


def _check_one_waits(store: Store, rows: list[Execution]) -> None:
    after = [read(store, row.id) for row in rows]
    [waiting] = [row for row in after if row.is_live]
    others = [row for row in after if row.id != waiting.id]
    assert {(row.state, row.reason) for row in others} == {
        (State.FAILED, f"coalesced into {waiting.id}")
    }
