"""Contracts of one-off work: enqueued once, claimed once."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import timedelta
from typing import Any

from sempre.domain.planning import plan_failure, plan_release, plan_success
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Enqueued, Settled, Settlement
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    MINUTE,
    due_schedule,
    enqueued,
    expire,
    hasten,
    moment_of,
    new_id,
    now_of,
    read,
    rescued,
    session_of,
    succeed,
    wanted,
    work_of,
)

# Enqueue


def test_work_reads_back_equal(store: Store) -> None:
    """All fields are equal but the creation time, which is the store's now."""
    snapshot: dict[str, Any] = {
        "args": {"to": "ana@example.org", "id": 2**53 + 1, "nested": [{"✓": [None, 0.1]}]},
        "queue": "mail",
        "priority": 3,
        "retry": Retry(4, base="2s", cap="3m", jitter="1s", never=("myapp.errors.Fatal",)),
        "timeout": timedelta(seconds=5, microseconds=1),
        "on_unknown": "skip",
        "overlap": "allow",
        "revision": 1,
    }
    work = work_of(store, due_in=timedelta(microseconds=1), **snapshot)
    derived = copy_with(work.execution, kind=Kind.DERIVED, actor="pair", reason="found")
    before = now_of(store)

    assert store.enqueue([copy_with(work, execution=derived)]) == [Enqueued(derived.id)]

    row = read(store, derived.id)
    assert before <= row.created_at <= now_of(store)
    assert row == copy_with(derived, created_at=row.created_at)


def test_work_is_put_in_in_bulk(store: Store) -> None:
    """One receipt each, in order; nothing in is nothing out."""
    works = [work_of(store) for _ in range(250)]

    receipts = store.enqueue(works)

    assert receipts == [Enqueued(work.execution.id) for work in works]
    assert len(store.candidates([each.id for each in receipts]).value) == 250
    assert store.enqueue([]) == []


def test_work_of_many_kinds_is_put_in_in_one_batch(store: Store) -> None:
    """Each piece of work reads back with its own fields, alike or not."""
    works = [
        work_of(store, job=f"job{number % 20}", priority=number % 3, args={"✓": f"'{number}' {{}}"})
        for number in range(40)
    ]
    alike = [work_of(store, args={"number": number}) for number in range(30)]

    for batch in (works, alike):
        assert store.enqueue(batch) == [Enqueued(work.execution.id) for work in batch]

    for work in (*works, *alike):
        assert read(store, work.execution.id).snapshot == work.execution.snapshot


def test_work_keeps_the_trace_of_its_caller(store: Store) -> None:
    """Each claim returns the trace; executions with and without one are started together."""
    traces = [f"00-{number:032x}-{number:016x}-01" for number in range(1, 7)]
    works = [work_of(store, trace=trace) for trace in (*traces, "")]
    for batch in (works[:3], works[3:]):
        assert store.enqueue(batch) == [Enqueued(work.execution.id) for work in batch]

    first = store.claim_one_off(wanted(limit=4), session=session_of(store)).value
    rest = store.claim_one_off(wanted(limit=9), session=session_of(store)).value

    expected = {work.execution.id: work.execution.snapshot for work in works}
    assert {row.id: row.snapshot for row in (*first, *rest)} == expected
    assert {read(store, each).snapshot.trace for each in expected} == {*traces, ""}


def test_work_put_in_again_is_put_in_once(store: Store) -> None:
    """The first reply may have been lost; the work may even have ended by now."""
    work = work_of(store)
    assert store.enqueue([work, work]) == [Enqueued(work.execution.id)] * 2
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    succeed(store, row)

    assert store.enqueue([work]) == [Enqueued(work.execution.id)]

    assert read(store, row.id).state is State.SUCCEEDED
    assert store.claim_one_off(wanted(), session=session_of(store)).value == []


# Take


def test_work_is_taken_once(store: Store) -> None:
    """The work then runs for the session, from the store's now, under a new fence."""
    identity = enqueued(store)
    session = session_of(store)
    waiting = read(store, identity)

    reading = store.claim_one_off(wanted(), session=session)

    [row] = reading.value
    assert row == waiting.to(
        State.RUNNING,
        attempt=1,
        first_started_at=reading.now,
        started_at=reading.now,
        session=session,
        fence=row.fence,
        leased_until=row.leased_until,
    )
    assert row.fence > 0
    assert row.leased_until is not None
    assert row.leased_until > reading.now + LEASE / 2
    assert read(store, identity) == row
    assert store.claim_one_off(wanted(), session=session).value == []
    assert store.claim_one_off(wanted(), session=session_of(store)).value == []


def test_taking_takes_by_priority_and_then_by_time(store: Store) -> None:
    """A lower number comes first; among equals, the work that has waited longest."""
    expected = {}
    for name, priority, minutes in [("a", 5, 1), ("b", 2000, 9), ("c", 5, 7), ("d", 10, 8)]:
        due_in = -minutes * MINUTE
        expected[name] = enqueued(store, name=name, priority=priority, due_in=due_in)
    session = session_of(store)

    first = store.claim_one_off(wanted(limit=3), session=session).value
    second = store.claim_one_off(wanted(limit=3), session=session).value

    assert [row.snapshot.name for row in first] == ["c", "a", "d"]
    assert [row.snapshot.name for row in second] == ["b"]
    assert {row.snapshot.name: row.id for row in (*first, *second)} == expected


def test_of_given_ids_only_one_off_work_that_is_due_and_wanted_is_taken(store: Store) -> None:
    """As tickets name ids: slots, and early, unknown, unwanted or taken work, are left out."""
    first, second, taken, spared = (enqueued(store) for _ in range(4))
    early = enqueued(store, due_in=MINUTE)
    unwanted = enqueued(store, job="other")
    [slot] = due_schedule(store).rows
    session = session_of(store)
    store.claim_one_off(wanted(), session=session, ids=[taken])

    ids = [second, early, unwanted, slot.id, "nobody", taken, first]
    found = store.claim_one_off(wanted(limit=len(ids)), session=session, ids=ids).value
    again = store.claim_one_off(wanted(limit=len(ids)), session=session, ids=ids).value
    none = store.claim_one_off(wanted(), session=session, ids=[]).value
    rest = store.claim_one_off(wanted(), session=session).value

    assert {row.id for row in found} == {first, second}
    assert {row.state for row in found} == {State.RUNNING}
    assert (again, none) == ([], [])
    assert [row.id for row in rest] == [spared]


def test_given_ids_are_taken_in_the_same_order_as_any_work(store: Store) -> None:
    """By priority and then by time, in any order of the ids; overdue work by age."""
    by_name = {}
    for name, priority, minutes in [("a", 5, 1), ("b", 2000, 9), ("c", 5, 7), ("d", 10, 8)]:
        due_in = -minutes * MINUTE
        by_name[name] = enqueued(store, name=name, priority=priority, due_in=due_in)
    session, ids = session_of(store), list(by_name.values())

    first = store.claim_one_off(wanted(limit=2), session=session, ids=ids).value
    overdue = copy_with(wanted(limit=2), overdue=MINUTE)
    second = store.claim_one_off(overdue, session=session, ids=ids).value

    assert [row.snapshot.name for row in first] == ["c", "a"]
    assert [row.snapshot.name for row in second] == ["b", "d"]


def test_taking_takes_what_is_wanted_and_no_more(store: Store) -> None:
    """Of the queues and jobs that the worker knows."""
    enqueued(store, name="slow", queue="slow")
    enqueued(store, name="other", job="other")
    for _ in range(5):
        enqueued(store)
    session = session_of(store)

    assert len(store.claim_one_off(wanted(limit=2), session=session).value) == 2
    assert store.claim_one_off(wanted(limit=0), session=session).value == []
    assert store.claim_one_off(wanted(queues="", jobs="mail"), session=session).value == []
    assert len(store.claim_one_off(wanted(limit=99), session=session).value) == 3
    taken = store.claim_one_off(
        wanted(queues="default slow", jobs="mail other"), session=session
    ).value
    assert sorted(row.snapshot.name for row in taken) == ["other", "slow"]


def test_taking_takes_no_rows_of_schedules(store: Store) -> None:
    """Rows of schedules need a plan for the successor."""
    due_schedule(store)

    assert store.claim_one_off(wanted(), session=session_of(store)).value == []


def test_early_work_is_not_taken(store: Store) -> None:
    """Delayed work waits and cannot be claimed until due."""
    identity = enqueued(store, due_in=HOUR)

    assert store.claim_one_off(wanted(), session=session_of(store)).value == []

    assert read(store, identity).state is State.PENDING


def test_nothing_is_taken_for_a_session_without_a_lease(store: Store) -> None:
    """Unknown, expired or retired."""
    identity = enqueued(store)
    expired, retired = session_of(store), session_of(store)
    expire(store, expired)
    store.retire(retired)

    for session in (new_id(), expired, retired, session_of(store, lease=-MINUTE)):
        assert store.claim_one_off(wanted(), session=session).value == []

    assert read(store, identity).state is State.PENDING


def test_a_failed_execution_is_taken_again_when_its_retry_is_due(store: Store) -> None:
    """Not earlier: the wait of the retry policy has to pass."""
    enqueued(store, retry=Retry(1, base="1h", cap="1h"))
    session = session_of(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    plan = plan_failure(None, row, moment_of(store), error="boom")

    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]

    assert store.claim_one_off(wanted(), session=session).value == []
    assert read(store, row.id) == plan.changes[0].after
    assert read(store, row.id).due_at > now_of(store) + HOUR / 2


def test_a_released_execution_is_taken_again_at_once(store: Store) -> None:
    """The first start is kept, the attempt is not used up, and the fence is higher."""
    enqueued(store)
    session, other = session_of(store), session_of(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    plan = plan_release(None, row, moment_of(store))
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]

    [again] = store.claim_one_off(wanted(), session=other).value

    assert (again.id, again.session, again.attempt) == (row.id, other, 1)
    assert again.first_started_at == row.first_started_at
    assert again.fence > row.fence


def test_a_crashed_execution_is_taken_again_with_a_higher_fence(store: Store) -> None:
    """A later result of the first holder is late."""
    enqueued(store)
    session = session_of(store)
    [row] = store.claim_one_off(wanted(), session=session).value
    expire(store, session)
    rescued(store, row.id)
    hasten(store, row.id)

    [again] = store.claim_one_off(wanted(), session=session_of(store)).value

    assert (again.id, again.attempt, again.crashes) == (row.id, 2, 1)
    assert again.fence > row.fence
    late = Settlement(row, plan_success(row, moment_of(store)))
    assert store.settle([late], session=session) == [Settled.LATE]
    assert read(store, row.id) == again
