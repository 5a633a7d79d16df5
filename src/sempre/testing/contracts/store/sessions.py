"""Contracts of sessions: leases are given, renewed and lost by the store's clock."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import datetime

from sempre.domain.planning import PlanningTime, plan_disable, plan_rescue
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import Session, Settled
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    LEASE,
    MINUTE,
    TZDATA,
    claimed,
    due_schedule,
    enqueued,
    expire,
    hasten,
    moment_of,
    new_id,
    now_of,
    order_of,
    perform,
    read,
    rescued,
    session_of,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
)


def test_a_session_begins_with_a_lease_from_the_stores_now(store: Store) -> None:
    """Every field of the session is stored; the store adds the start and the end of the lease."""
    session = Session(
        new_id(),
        host="worker-1.example",
        pid=2**22,
        queues=("default", "slow"),
        jobs=("bill", "Rechnung ✓"),
        tzdata=TZDATA,
        release=7,
    )

    reading = store.register(session, lease=LEASE)

    expected = copy_with(session, started_at=reading.now, leased_until=reading.now + LEASE)
    assert reading.value == expected
    assert store.sessions().value == [expected]


def test_a_session_that_is_registered_again_is_one_session(store: Store) -> None:
    """The reply to the first time may have been lost."""
    session = Session(new_id(), host="worker")
    store.register(session, lease=LEASE)

    again = store.register(session, lease=LEASE)

    assert store.sessions().value == [again.value]


def test_a_tick_renews_a_session_that_is_alive(store: Store) -> None:
    """From the store's now, for this session only; its executions share the lease."""
    session, other = session_of(store), session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    before = {each.id: each for each in store.sessions().value}

    reading = store.tick(session, wanted(), lease=2 * LEASE)

    assert reading.value.alive
    after = {each.id: each for each in store.sessions().value}
    assert after[session] == copy_with(before[session], leased_until=reading.now + 2 * LEASE)
    assert after[other] == before[other]
    assert read(store, row.id).leased_until == reading.now + 2 * LEASE


def test_a_session_that_nobody_knows_cannot_renew(store: Store) -> None:
    """Each tick answers that the session is not alive, and creates no session."""
    retired = session_of(store)
    store.retire(retired)

    for session in (new_id(), retired, retired):
        assert not store.tick(session, wanted(), lease=LEASE).value.alive

    assert store.sessions().value == []


def test_an_expired_session_that_shows_life_holds_again_what_nobody_has_taken(
    store: Store,
) -> None:
    """After a jump of the clock all sessions have expired but live: none of their runs is lost."""
    session, other = session_of(store), session_of(store)
    kept = claimed(store, due_schedule(store).rows[0].id, session)
    taken = claimed(store, enqueued(store), session)
    expire(store, session)
    rescued(store, taken.id)

    told = store.tick(session, wanted(), lease=LEASE).value

    assert (told.alive, told.held, told.has_expired) == (True, frozenset({kept.fence}), False)
    assert store.expired(10).value == []
    assert not store.tick(other, wanted(), lease=LEASE).value.has_expired
    assert succeed(store, kept) is Settled.DONE
    hasten(store, taken.id)
    claimed(store, taken.id, session)


def test_a_rescue_is_refused_once_the_session_lives_again(store: Store) -> None:
    """A rescue may come after the renewal: a live session loses nothing."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    one_off = claimed(store, enqueued(store), session)
    expire(store, session)
    reading = store.expired(10)
    orders = []
    for lost in reading.value:
        schedule, rows = (lost.view.schedule, lost.view.rows) if lost.view else (None, ())
        plan = plan_rescue(schedule, lost.execution, rows, PlanningTime(reading.now, TZDATA))
        orders.append(order_of(plan))
    store.tick(session, wanted(), lease=LEASE)

    assert store.apply(orders) == [False, False]
    assert {read(store, each.id).state for each in (row, one_off)} == {State.RUNNING}


def test_no_lease_lasts_longer_than_is_possible(store: Store) -> None:
    """Leases given by a clock that was ahead are cut to the maximum; shorter leases stay."""
    ahead, right = session_of(store, lease=9 * HOUR), session_of(store, lease=HOUR)
    before = {each.id: each for each in store.sessions().value}

    assert store.shorten_leases(longest=2 * HOUR) == 1

    now = now_of(store)
    after = {each.id: each for each in store.sessions().value}
    assert after[right] == before[right]
    until = after[ahead].leased_until
    assert until is not None
    assert now + HOUR < until <= now + 2 * HOUR
    assert after[ahead] == copy_with(before[ahead], leased_until=until)
    assert store.shorten_leases(longest=2 * HOUR) == 0


def test_a_tick_says_when_the_next_row_is_due(store: Store) -> None:
    """Of work that the session accepts, one-off or not, past or future; None without such work."""
    session = session_of(store)

    def next_due_at(queues: str = "default", jobs: str = "bill mail") -> datetime | None:
        asked = wanted(queues=queues, jobs=jobs, limit=1)
        return store.tick(session, asked, lease=LEASE).value.next_due_at

    assert next_due_at() is None
    row = waiting_schedule(store).rows[0]
    assert next_due_at() == row.due_at
    sooner = read(store, enqueued(store, due_in=MINUTE))
    assert next_due_at() == sooner.due_at
    assert next_due_at(jobs="bill") == row.due_at
    assert next_due_at(queues="other") is None
    past = read(store, enqueued(store))
    assert next_due_at() == past.due_at
    store.claim_one_off(wanted(), session=session)
    assert next_due_at() == sooner.due_at


def test_the_next_row_that_is_not_yet_due_is_told(store: Store) -> None:
    """Even if other rows are due already, so that a worker knows when to query again."""
    enqueued(store)
    assert store.next_due(wanted()).value is None
    later = read(store, enqueued(store, due_in=HOUR))
    sooner = read(store, enqueued(store, due_in=MINUTE, priority=2000))

    reading = store.next_due(wanted())

    assert reading.value == sooner.due_at
    assert reading.now < sooner.due_at < later.due_at
    assert store.next_due(wanted(jobs="bill")).value is None
    assert store.next_due(wanted(queues="other")).value is None


def test_the_first_row_that_is_due_after_an_instant_is_told(store: Store) -> None:
    """Due by now or later: so a worker that nothing wakes learns of work placed by others."""
    now = store.last_pass().now
    assert store.first_due(wanted(), after=now - HOUR) is None
    later = read(store, enqueued(store, due_in=MINUTE, priority=2000))
    assert store.first_due(wanted(), after=now - HOUR) == later.due_at

    due = read(store, enqueued(store))

    assert store.first_due(wanted(), after=now - HOUR) == due.due_at
    assert store.first_due(wanted(), after=due.due_at) == later.due_at
    assert store.first_due(wanted(), after=later.due_at) is None
    assert store.first_due(wanted(jobs="bill"), after=now - HOUR) is None
    assert store.first_due(wanted(queues="other"), after=now - HOUR) is None


def test_a_tick_says_when_the_next_pass_is_due(store: Store) -> None:
    """This date lets a fleet with a dead broker still heal."""
    session = session_of(store)
    fresh = store.tick(session, wanted(), lease=LEASE)
    assert fresh.value.pass_due_at is not None
    assert fresh.value.pass_due_at <= fresh.now

    begun = store.begin_pass(holder=session, every=5 * MINUTE)

    assert begun is not None
    assert store.tick(session, wanted(), lease=LEASE).value.pass_due_at == begun.due_at


def test_a_tick_says_whether_anything_has_expired(store: Store) -> None:
    """Of any session; an expired or missing session counts only while it has running executions."""
    session, lost, gone = (session_of(store) for _ in range(3))

    def has_expired() -> bool:
        return store.tick(session, wanted(), lease=LEASE).value.has_expired

    one_off = enqueued(store)
    assert len(store.claim_one_off(wanted(), session=lost).value) == 1
    row = claimed(store, due_schedule(store).rows[0].id, gone)
    assert not has_expired()
    expire(store, lost)
    assert has_expired()
    rescued(store, one_off)
    assert not has_expired()
    store.retire(gone)
    assert has_expired()
    rescued(store, row.id)
    assert not has_expired()


def test_sessions_lists_expired_ones_too(store: Store) -> None:
    """Until the sessions are retired."""
    session, other = session_of(store), session_of(store)
    expire(store, session)

    assert {each.id for each in store.sessions().value} == {session, other}
    store.retire(session)
    assert {each.id for each in store.sessions().value} == {other}
    store.retire(session)
    store.retire(new_id())


def test_a_retired_session_is_gone_and_what_it_runs_is_expired(store: Store) -> None:
    """Other workers need not wait for the end of the lease."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)

    store.retire(session)

    assert not store.tick(session, wanted(), lease=LEASE).value.alive
    [lost] = store.expired(10).value
    assert lost.execution.id == row.id
    assert lost.execution.leased_until is not None
    assert lost.execution.leased_until <= now_of(store)
    assert rescued(store, row.id).state is State.SCHEDULED


def test_expired_executions_come_with_the_lease_that_ran_out(store: Store) -> None:
    """With views, for schedules and one-off work; waiting and ended executions are left out."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    one_off = enqueued(store)
    assert len(store.claim_one_off(wanted(), session=session).value) == 1
    over = claimed(store, due_schedule(store, "over").rows[0].id, session)
    succeed(store, over)
    expire(store, session)
    [ended] = [each.leased_until for each in store.sessions().value]

    reading = store.expired(10)

    found = {each.execution.id: each for each in reading.value}
    assert found.keys() == {row.id, one_off}
    assert found[row.id].execution == copy_with(row, leased_until=ended)
    assert ended is not None
    assert ended <= reading.now
    assert found[row.id].view == view_of(store)
    assert found[one_off].view is None


def test_what_a_live_session_runs_is_not_expired(store: Store) -> None:
    """And is not taken back by a plan either, which planning does not make."""
    row = claimed(store, due_schedule(store).rows[0].id, session_of(store))

    assert store.expired(10).value == []
    view = view_of(store)
    assert plan_rescue(view.schedule, read(store, row.id), view.rows, moment_of(store)).is_empty


def test_expired_executions_are_as_many_as_asked_for(store: Store) -> None:
    """The rest is there the next time, once these have been taken back."""
    session = session_of(store)
    ids = {enqueued(store) for _ in range(7)}
    store.claim_one_off(wanted(), session=session)
    expire(store, session)
    seen: set[str] = set()

    while lost := store.expired(3).value:
        assert len(lost) <= 3
        for each in lost:
            rescued(store, each.execution.id)
            seen.add(each.execution.id)

    assert seen == ids


def test_a_rescue_is_refused_once_somebody_else_has_rescued(store: Store) -> None:
    """Or the schedule was disabled meanwhile, so that nothing may run again."""
    session = session_of(store)
    row = claimed(store, due_schedule(store).rows[0].id, session)
    expire(store, session)
    reading = store.expired(1)
    [lost] = reading.value
    assert lost.view is not None
    plan = plan_rescue(lost.view.schedule, lost.execution, lost.view.rows, moment_of(store))
    perform(store, plan_disable)

    assert store.apply([order_of(plan)]) == [False]
    assert rescued(store, row.id).state is State.FAILED
    assert store.apply([order_of(plan)]) == [False]
