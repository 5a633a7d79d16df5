"""Contracts of settle: the end of an attempt is recorded once, and only while the claim holds."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    plan_disable,
    plan_edit,
    plan_failure,
    plan_release,
    plan_success,
)
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import Settled, Settlement, Success
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    check_invariants,
    claimed,
    due_schedule,
    enqueued,
    expire,
    hasten,
    moment_of,
    new_id,
    now_of,
    perform,
    read,
    rescued,
    session_of,
    succeed,
    view_of,
    wanted,
    without_lease,
)


def _running(store: Store, *, retry: int = 0) -> Execution:
    return claimed(store, due_schedule(store, retry=retry).rows[0].id, session_of(store))


def _settle(store: Store, row: Execution, plan: Plan, result: Json = None, error: str = "") -> str:
    settlement = Settlement(row, plan, result=result, error=error)
    [settled] = store.settle([settlement], session=row.session)
    return settled


def _schedule(store: Store) -> Schedule:
    return view_of(store).schedule


def test_a_success_keeps_the_result_that_was_recorded_first(store: Store) -> None:
    """Later results change nothing, whether the first settlement had a result or none."""
    row = _running(store)
    session = row.session
    store.settle([Success(row, now_of(store))], session=session)

    again = store.settle([Success(row, now_of(store) + HOUR, "other")], session=session)

    assert again == [Settled.DONE]
    [attempt] = store.attempts(row.id).value
    assert (attempt.state, attempt.result) == (State.SUCCEEDED, None)
    check_invariants(store)


def test_a_success_is_recorded_with_its_result(store: Store) -> None:
    """The row has ended, the schedule is unchanged, and the attempt is listed."""
    row = _running(store)
    schedule = _schedule(store)
    plan = plan_success(row, moment_of(store))
    result: Json = {"sent": [2**53 + 1, "✓", None, 0.1]}

    assert _settle(store, row, plan, result) is Settled.DONE

    assert without_lease(read(store, row.id)) == plan.changes[0].after
    assert _schedule(store) == schedule
    [attempt] = store.attempts(row.id).value
    assert (attempt.execution_id, attempt.fence, attempt.session) == (
        row.id,
        row.fence,
        row.session,
    )
    assert attempt.started_at == row.started_at
    assert row.started_at is not None
    assert attempt.finished_at >= row.started_at
    assert (attempt.state, attempt.result, attempt.error) == (State.SUCCEEDED, result, "")
    assert not attempt.late
    check_invariants(store)


def test_results_settled_together_read_back_exactly_up_to_the_highest_limit(store: Store) -> None:
    """Names of secrets and marks are stored unchanged, and several large results fit at once."""
    results: list[Json] = [
        {"password": "hunter2", "key": [{"token": 1}]},
        {"$sempre": "plain", "value": {"$sempre": None}},
        *["è" * (2**20 - 1)] * 3,
    ]
    session = session_of(store)
    rows = [claimed(store, enqueued(store), session) for _ in results]
    moment = moment_of(store)
    settlements = [
        Settlement(row, plan_success(row, moment), result=result)
        for row, result in zip(rows, results, strict=True)
    ]

    assert store.settle(settlements, session=session) == [Settled.DONE] * len(rows)

    kept = [store.attempts(row.id).value[0].result for row in rows]
    assert kept == results


def test_a_settlement_repeated_is_done_and_kept_once(store: Store) -> None:
    """The reply to the first one may have been lost."""
    row = _running(store)
    plan = plan_success(row, moment_of(store))
    assert _settle(store, row, plan, 1) is Settled.DONE
    before = read(store, row.id)

    assert _settle(store, row, plan, 1) is Settled.DONE
    assert succeed(store, row) is Settled.DONE

    assert read(store, row.id) == before
    assert len(store.attempts(row.id).value) == 1


def test_a_failure_waits_for_its_retry(store: Store) -> None:
    """The slot stays, only the start moves; no session can start the retry earlier."""
    row = _running(store, retry=3)
    plan = plan_failure(_schedule(store), row, moment_of(store), error="boom")

    assert _settle(store, row, plan, error="boom") is Settled.DONE

    again = read(store, row.id)
    assert again == plan.changes[0].after
    assert (again.state, again.failures, again.attempt) == (State.SCHEDULED, 1, 1)
    assert again.run_at == row.run_at
    assert store.due(wanted()).value == []
    [attempt] = store.attempts(row.id).value
    assert (attempt.state, attempt.error) == (State.SCHEDULED, "boom")


def test_a_release_gives_an_execution_back(store: Store) -> None:
    """At once and without using up an attempt; the next claim has a higher fence."""
    row = _running(store)
    plan = plan_release(_schedule(store), row, moment_of(store))

    assert _settle(store, row, plan) is Settled.DONE

    assert [each.execution.id for each in store.due(wanted()).value] == [row.id]
    again = claimed(store, row.id, session_of(store))
    assert again.attempt == row.attempt
    assert again.fence > row.fence
    check_invariants(store)


def test_attempts_are_listed_with_results_and_errors(store: Store) -> None:
    """Every attempt in order, with its result or error."""
    row = _running(store)
    fences = []
    for number in range(3):
        plan = plan_release(_schedule(store), row, moment_of(store))
        assert _settle(store, row, plan, [number], f"error ✗ {number}") is Settled.DONE
        fences.append(row.fence)
        row = claimed(store, row.id, session_of(store))
    assert _settle(store, row, plan_success(row, moment_of(store)), "ok") is Settled.DONE

    attempts = store.attempts(row.id).value

    assert [each.fence for each in attempts] == [*fences, row.fence]
    assert [each.result for each in attempts] == [[0], [1], [2], "ok"]
    assert [each.error for each in attempts] == ["error ✗ 0", "error ✗ 1", "error ✗ 2", ""]
    assert attempts[-1].state is State.SUCCEEDED
    assert store.attempts(new_id()).value == []


def test_a_late_result_changes_nothing_but_is_kept(store: Store) -> None:
    """The lease was taken back and the work done again: the first result is no success."""
    row = _running(store)
    expire(store, row.session)
    rescued(store, row.id)
    waiting = read(store, row.id)

    assert _settle(store, row, plan_success(row, moment_of(store)), "slow") is Settled.LATE
    assert read(store, row.id) == waiting

    hasten(store, row.id)
    again = claimed(store, row.id, session_of(store))
    late = plan_failure(_schedule(store), row, moment_of(store), error="boom")
    assert _settle(store, row, late, error="boom") is Settled.LATE
    assert read(store, row.id) == again

    assert _settle(store, again, plan_success(again, moment_of(store)), "ok") is Settled.DONE
    over = read(store, row.id)
    assert over.state is State.SUCCEEDED
    found = {(each.fence, each.late, each.result) for each in store.attempts(row.id).value}
    assert (again.fence, False, "ok") in found
    assert (row.fence, True, "slow") in found
    check_invariants(store)


def test_a_late_result_is_kept_once(store: Store) -> None:
    """A late settlement repeated after a lost reply is late again, and not doubled."""
    row = _running(store)
    expire(store, row.session)
    rescued(store, row.id)
    plan = plan_success(row, moment_of(store))

    assert _settle(store, row, plan, "slow") is Settled.LATE
    assert _settle(store, row, plan, "slow") is Settled.LATE

    assert [each.late for each in store.attempts(row.id).value if not each.lost] == [True]


def test_a_result_counts_though_the_lease_expired_if_nobody_took_it_back(store: Store) -> None:
    """The claim holds until another session claims the execution."""
    row = _running(store)
    expire(store, row.session)

    assert succeed(store, row) is Settled.DONE

    assert read(store, row.id).state is State.SUCCEEDED
    assert store.expired(10).value == []


def test_a_result_of_a_session_that_does_not_hold_it_is_late(store: Store) -> None:
    """From any other session; the execution goes on running."""
    row = _running(store)
    settlement = Settlement(row, plan_success(row, moment_of(store)))

    assert store.settle([settlement], session=session_of(store)) == [Settled.LATE]

    assert read(store, row.id) == row


def test_a_failure_planned_before_an_edit_has_to_be_planned_again(store: Store) -> None:
    """A disable in between forbids the retry, so the store asks for another plan."""
    row = _running(store, retry=3)
    stale = plan_failure(_schedule(store), row, moment_of(store), error="boom")
    to = _schedule(store).definition.edited(note="edited")
    perform(store, plan_edit, to=to)
    before = view_of(store)

    assert _settle(store, row, stale, error="boom") is Settled.REPLAN
    assert view_of(store) == before
    assert store.attempts(row.id).value == []

    perform(store, plan_disable)
    fresh = plan_failure(_schedule(store), row, moment_of(store), error="boom")
    assert _settle(store, row, fresh, error="boom") is Settled.DONE
    assert read(store, row.id).state is State.FAILED
    check_invariants(store)


def test_a_failure_planned_before_another_claim_moves_nothing_back(store: Store) -> None:
    """A claim of the next slot moves cursor and starts meanwhile; the retry changes neither."""
    grid = Every("1m", anchor=now_of(store) - 2 * HOUR)
    view = due_schedule(store, overlap="allow", retry=3, tolerance="1d", grid=grid)
    row = claimed(store, view.rows[0].id, session_of(store))
    plan = plan_failure(_schedule(store), row, moment_of(store), error="boom")
    [successor] = [each.execution for each in store.due(wanted()).value]
    claimed(store, successor.id, session_of(store))
    before = _schedule(store)

    assert _settle(store, row, plan, error="boom") is Settled.DONE

    assert _schedule(store) == before
    check_invariants(store)


def test_a_batch_of_settlements_is_answered_in_order(store: Store) -> None:
    """Each settlement is judged separately: done, late, done."""
    session = session_of(store)
    ids = [enqueued(store) for _ in range(3)]
    taken = {row.id: row for row in store.claim_one_off(wanted(), session=session).value}
    rows = [taken[each] for each in ids]
    moment = moment_of(store)
    plans = [plan_success(row, moment) for row in rows]
    assert store.settle([Settlement(rows[1], plans[1])], session=session) == [Settled.DONE]
    stolen = Settlement(copy_with(rows[1], fence=rows[1].fence - 1), plans[1])

    answers = store.settle(
        [Settlement(rows[0], plans[0]), stolen, Settlement(rows[2], plans[2])], session=session
    )

    assert answers == [Settled.DONE, Settled.LATE, Settled.DONE]
    assert store.settle([], session=session) == []
