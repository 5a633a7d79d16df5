"""Contracts of retries by an operator: an ended execution waits again, under its id and key."""

# ruff: noqa: S101 - a contract asserts

from functools import partial

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_backfill, plan_discard, plan_retry, plan_skipped
from sempre.domain.planning.settlement import plan_failure
from sempre.domain.states import Kind, Reason, State
from sempre.ports.messages import Order, Settled, Settlement, UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    at_once,
    check_invariants,
    claimed,
    due_schedule,
    enqueued,
    history_of,
    moment_of,
    perform,
    read,
    session_of,
    view_of,
    wanted,
    without_lease,
    work_of,
)


def _retry_order(store: Store, identity: str) -> Order:
    """Return the order that retries an execution, planned from a fresh reading."""
    [found] = store.candidates([identity]).value
    view = found.view
    rows = [row for row in view.rows if row.id != identity] if view else []
    schedule = view.schedule if view else None
    return Order(plan_retry(schedule, found.execution, rows, moment_of(store), actor="ana"))


def _failed(store: Store, execution: Execution) -> Execution:
    """Settle a run as failed; return the execution as it ended."""
    [found] = store.candidates([execution.id]).value
    schedule = found.view.schedule if found.view else None
    plan = plan_failure(schedule, execution, moment_of(store), error="boom")
    settlement = Settlement(execution, plan, error="boom")
    assert store.settle([settlement], session=execution.session) == [Settled.DONE]
    return read(store, execution.id)


def _failed_work(store: Store, **options: object) -> Execution:
    """Enqueue one-off work that fails; return it."""
    identity, session = enqueued(store, **options), session_of(store)
    [execution] = store.claim_one_off(wanted(), session=session, ids=[identity]).value
    return _failed(store, execution)


def _backfills(store: Store, state: State) -> list[str]:
    """Return the ids of backfills in a state."""
    rows = history_of(store, view_of(store).schedule)
    return [row.id for row in rows if row.kind is Kind.BACKFILL and row.state is state]


def test_failed_work_that_is_retried_runs_again_under_its_key_and_a_higher_fence(
    store: Store,
) -> None:
    """The id, slot and key stay; the retries are counted anew."""
    ended = _failed_work(store)

    assert store.apply([_retry_order(store, ended.id)]) == [True]

    waiting = read(store, ended.id)
    assert (waiting.state, waiting.failures, waiting.actor) == (State.PENDING, 0, "ana")
    assert waiting.reason == Reason.RETRIED
    assert waiting.retried_at is not None
    [again] = store.claim_one_off(wanted(), session=session_of(store)).value
    assert (again.id, again.key, again.attempt) == (ended.id, ended.key, ended.attempt + 1)
    assert again.fence > ended.fence


def test_a_failed_slot_that_is_retried_is_due_and_leaves_the_cursor(store: Store) -> None:
    """The schedule keeps its next row; the slot that failed runs again."""
    row = due_schedule(store).rows[0]
    ended = _failed(store, claimed(store, row.id, session_of(store)))
    before = view_of(store).schedule

    assert store.apply([_retry_order(store, row.id)]) == [True]

    assert view_of(store).schedule == before
    check_invariants(store)
    [found] = store.due(wanted()).value
    assert found.execution.id == row.id
    again = claimed(store, row.id, session_of(store))
    assert (again.run_at, again.key) == (ended.run_at, ended.key)
    assert again.fence > ended.fence


def test_a_skipped_slot_that_is_retried_runs_for_the_first_time(store: Store) -> None:
    """A slot that never started is no next row again: it was decided before."""
    row = due_schedule(store).rows[0]
    execution = claimed(store, row.id, session_of(store))
    plan = plan_skipped(execution, moment_of(store))
    assert store.settle([Settlement(execution, plan)], session=execution.session) == [Settled.DONE]

    assert store.apply([_retry_order(store, row.id)]) == [True]

    check_invariants(store)
    assert claimed(store, row.id, session_of(store)).state is State.RUNNING
    check_invariants(store)


def test_a_cancelled_execution_that_is_retried_waits_again(store: Store) -> None:
    """A retry reaches work that was cancelled before its first start."""
    identity = enqueued(store, due_in=HOUR)
    store.cancel([identity], actor="ben")

    assert store.apply([_retry_order(store, identity)]) == [True]

    [again] = store.claim_one_off(wanted(), session=session_of(store)).value
    assert again.id == identity


def test_one_of_two_retries_at_once_wins(store: Store) -> None:
    """The second order was made for an execution that had ended."""
    ended = _failed_work(store)
    orders = [_retry_order(store, ended.id) for _ in range(2)]

    answers = at_once(*[partial(store.apply, [order]) for order in orders])

    assert sorted(answers) == [[False], [True]]


def test_a_retry_is_refused_while_another_execution_holds_the_key(store: Store) -> None:
    """The ended execution stays as it is."""
    key = UniqueKey("database 7")
    ended = _failed_work(store, unique=key)
    other = enqueued(store, unique=key)

    assert store.apply([_retry_order(store, ended.id)]) == [False]

    assert without_lease(read(store, ended.id)) == without_lease(ended)
    assert read(store, other).is_live


def test_retried_work_holds_its_key(store: Store) -> None:
    """A newcomer of that key is a duplicate of the retried execution."""
    key = UniqueKey("database 7")
    ended = _failed_work(store, unique=key)
    assert store.apply([_retry_order(store, ended.id)]) == [True]

    [answer] = store.enqueue([work_of(store, unique=key)])

    assert (answer.id, answer.created) == (ended.id, False)


def test_a_retried_backfill_is_refused_while_another_backfill_has_its_slot(store: Store) -> None:
    """A slot has one active backfill."""
    view = due_schedule(store)
    session, slot = session_of(store), view.rows[0].run_at
    _failed(store, claimed(store, view.rows[0].id, session))
    perform(store, plan_backfill, start=slot, end=slot)
    [first] = _backfills(store, State.PENDING)
    _failed(store, claimed(store, first, session))
    late = _retry_order(store, first)
    perform(store, plan_backfill, start=slot, end=slot)

    assert store.apply([late]) == [False]

    assert _backfills(store, State.FAILED) == [first]
    assert len(_backfills(store, State.PENDING)) == 1
    check_invariants(store)


def test_a_discarded_failure_is_cancelled_and_stays_on_record(store: Store) -> None:
    """The attempts of the execution stay."""
    ended = _failed_work(store)

    order = Order(plan_discard(ended, actor="ana", note="known"))
    assert store.apply([order]) == [True]

    over = read(store, ended.id)
    assert (over.state, over.reason, over.actor) == (State.CANCELLED, "discarded: known", "ana")
    assert over.finished_at == ended.finished_at
    assert len(store.attempts(ended.id).value) == 1
