"""Contracts under races for work: many threads at once, and the number of winners."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections import Counter
from functools import partial

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    plan_rescue,
    plan_success,
)
from sempre.domain.states import State
from sempre.ports.messages import Settled, Settlement, UniqueKey
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    at_once,
    check_invariants,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    expire,
    history_of,
    moment_of,
    order_of,
    read,
    session_of,
    succeed,
    view_of,
    wanted,
    work_of,
)

MANY = 8


def test_of_many_claims_at_once_one_wins(store: Store) -> None:
    """Each thread planned the start of one row for its own session."""
    row = due_schedule(store).rows[0]
    orders = [claim_order(store, row.id) for _ in range(MANY)]
    sessions = [session_of(store) for _ in range(MANY)]

    answers = at_once(
        *(
            partial(store.claim, [order], session=session)
            for order, session in zip(orders, sessions, strict=True)
        )
    )

    [winner] = [execution for [execution] in answers if execution]
    assert read(store, row.id) == winner
    assert view_of(store).schedule.starts == 1
    assert len(history_of(store, view_of(store).schedule)) == 2
    check_invariants(store)


def test_one_session_that_claims_twice_at_once_claims_once(store: Store) -> None:
    """A repeated order that overtakes the first order finds one claim."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    order = claim_order(store, row.id)

    answers = at_once(*[partial(store.claim, [order], session=session)] * MANY)

    assert [each for [each] in answers] == [read(store, row.id)] * MANY
    check_invariants(store)


def test_claims_of_many_rows_at_once_start_each_once(store: Store) -> None:
    """Batches that overlap in different orders neither block each other nor double a start."""
    names = [f"billing-{number}" for number in range(10)]
    rows = [due_schedule(store, name).rows[0] for name in names]
    batches = []
    for number in range(MANY):
        orders = [claim_order(store, row.id) for row in rows]
        batches.append(orders[::-1] if number % 2 else orders)
    sessions = [session_of(store) for _ in range(MANY)]

    answers = at_once(
        *(
            partial(store.claim, orders, session=session)
            for orders, session in zip(batches, sessions, strict=True)
        )
    )

    started = [execution for answer in answers for execution in answer if execution]
    assert sorted(row.id for row in started) == sorted(row.id for row in rows)
    assert len({row.fence for row in started}) == len(rows)
    for name in names:
        check_invariants(store, name)


def test_taking_at_once_takes_everything_once(store: Store) -> None:
    """No work is taken twice, and no work is left after each thread has asked again."""
    ids = {enqueued(store) for _ in range(40)}
    sessions = [session_of(store) for _ in range(MANY)]

    answers = at_once(
        *(partial(store.claim_one_off, wanted(limit=5), session=session) for session in sessions)
    )

    taken = [row for answer in answers for row in answer.value]
    while rest := store.claim_one_off(wanted(limit=5), session=sessions[0]).value:
        taken += rest
    assert Counter(row.id for row in taken) == Counter(ids)
    assert len({row.fence for row in taken}) == len(ids)


def test_unique_work_put_in_at_once_is_put_in_once(store: Store) -> None:
    """Every loser gets the id of the existing work; a batch may hold keys in any order."""
    keys = [f"key-{number}" for number in range(10)]
    batches = []
    for number in range(MANY):
        works = [work_of(store, unique=UniqueKey(key)) for key in keys]
        batches.append(works[::-1] if number % 2 else works)

    answers = at_once(*(partial(store.enqueue, works) for works in batches))

    told = [
        (work.unique and work.unique.key, receipt)
        for works, receipts in zip(batches, answers, strict=True)
        for work, receipt in zip(works, receipts, strict=True)
    ]
    assert Counter(key for key, receipt in told if receipt.created) == Counter(keys)
    assert len({receipt.id for _, receipt in told}) == len(keys)
    assert len(store.claim_one_off(wanted(), session=session_of(store)).value) == len(keys)


def test_of_many_settlements_of_one_claim_one_is_kept(store: Store) -> None:
    """A holder that repeats the settlement gets "done" each time."""
    row = claimed(store, due_schedule(store).rows[0].id, session_of(store))
    settlement = Settlement(row, plan_success(row, moment_of(store)), result="ok")

    answers = at_once(*[partial(store.settle, [settlement], session=row.session)] * MANY)

    assert answers == [[Settled.DONE]] * MANY
    assert len(store.attempts(row.id).value) == 1
    check_invariants(store)


def test_of_many_rescues_at_once_one_wins(store: Store) -> None:
    """One crash is counted once, with any number of sweeping workers."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    expire(store, session)
    plans = [_rescue(store, row) for _ in range(MANY)]

    answers = at_once(*(partial(store.apply, [order_of(plan)]) for plan in plans))

    assert _count([answer for [answer] in answers]) == 1
    assert read(store, row.id).crashes == 1
    check_invariants(store)


def test_a_rescue_and_a_result_at_once_end_an_execution_one_way(store: Store) -> None:
    """Either the execution is done, or waits again and the result is stored as late."""
    for number in range(MANY):
        name = f"billing-{number}"
        session = session_of(store)
        row = claimed(store, due_schedule(store, name).rows[0].id, session)
        expire(store, session)
        plan = _rescue(store, row)

        def rescue(plan: Plan = plan) -> object:
            return store.apply([order_of(plan)])[0]

        def settle(row: Execution = row) -> object:
            return succeed(store, row)

        rescued, settled = at_once(rescue, settle)

        after = read(store, row.id)
        if rescued:
            assert (settled, after.state) == (Settled.LATE, State.SCHEDULED)
        else:
            assert (settled, after.state) == (Settled.DONE, State.SUCCEEDED)
        check_invariants(store, name)


def _rescue(store: Store, row: Execution) -> Plan:
    lost = {each.execution.id: each for each in store.expired(100).value}[row.id]
    assert lost.view is not None
    return plan_rescue(lost.view.schedule, lost.execution, lost.view.rows, moment_of(store))


def _count(answers: list[bool]) -> int:
    return sum(answers)
