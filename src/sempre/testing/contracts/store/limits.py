"""Contracts about limits: a claim never exceeds one, and executions that wait go on in order."""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import keys_of, parked_under
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.planning import Verdict, plan_claim, plan_disable, plan_failure
from sempre.domain.policies import Retry
from sempre.domain.states import State
from sempre.ports.limits import Opened
from sempre.ports.messages import Cancelled, Settlement, Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    expire,
    first_row,
    hasten,
    moment_of,
    now_of,
    order_of,
    perform,
    read,
    rescued,
    session_of,
    succeed,
    view_of,
    wanted,
    work_of,
)
from sempre.testing.polling import eventually

ONE = (Concurrency(1),)


def limited(store: Store, count: int, **options: Any) -> list[str]:  # noqa: ANN401 - handed on
    """Enqueue pieces of work with a limit, by default one run at once; return their ids."""
    return [enqueued(store, **({"limits": ONE} | options)) for _ in range(count)]


def claim_each(store: Store, ids: Iterable[str], session: str) -> list[Execution | None]:
    """Claim executions by one operation."""
    return store.claim([claim_order(store, each) for each in ids], session=session)


def opened(store: Store, *ids: str) -> Opened:
    """Open the limits of executions."""
    return store.open_limits(keys_of(read(store, each) for each in ids), limit=1000).value


def parked(store: Store, ids: Iterable[str]) -> list[str]:
    """Return the executions among these that wait for a limit."""
    return [each for each in ids if read(store, each).held_by.startswith("limit:")]


def states(store: Store, ids: Sequence[str]) -> list[State]:
    """Return the states of executions."""
    return [read(store, each).state for each in ids]


# Concurrency


def test_a_claim_beyond_a_limit_is_refused_and_parks_the_row(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3, limits=(Concurrency(2),))

    begun = [claim_each(store, [each], session)[0] for each in ids]

    assert [row is not None for row in begun] == [True, True, False]
    row = read(store, ids[2])
    assert row.is_live
    assert row.held_by == parked_under("concurrency:job:mail")
    assert row.reason == "held by limit: 2 runs at once of mail"


def test_claims_of_one_operation_respect_a_limit(store: Store) -> None:
    session, ids = session_of(store), limited(store, 4, limits=(Concurrency(2),))

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, True, False, False]
    assert parked(store, ids) == ids[2:]


def test_a_repeated_claim_under_a_full_limit_gives_the_first_answer(store: Store) -> None:
    session, [identity] = session_of(store), limited(store, 1)
    order = claim_order(store, identity)
    [first] = store.claim([order], session=session)

    [again] = store.claim([order], session=session)

    assert first is not None
    assert again == first


def test_each_value_of_a_key_has_a_limit_of_its_own(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1, key=["tenant"]),)
    ids = [enqueued(store, limits=limits, args={"tenant": each}) for each in (1, 1, 2, 2)]

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, False, True, False]
    assert read(store, ids[1]).held_by == 'limit:concurrency:job:mail:{"tenant":1}'


def test_jobs_share_the_limit_of_a_tag(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1, tag="smtp"),)
    ids = [enqueued(store, job=job, name=job, limits=limits) for job in ("mail", "bill")]

    begun = claim_each(store, ids, session)

    assert [row is not None for row in begun] == [True, False]
    assert read(store, ids[1]).held_by == "limit:concurrency:tag:smtp"


def test_a_long_or_secret_key_is_stored_as_a_digest(store: Store) -> None:
    session = session_of(store)
    for name, value in (("tenant", "x" * 5000), ("password", "hunter2"), ("tenant", "è")):
        limits = (Concurrency(1, key=[name]),)
        ids = [enqueued(store, limits=limits, args={name: value}) for _ in range(2)]
        begun = claim_each(store, ids, session)

        assert [row is not None for row in begun] == [True, False]
        assert "hunter2" not in read(store, ids[1]).held_by


def test_alike_work_with_a_keyed_limit_is_counted_by_its_arguments(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1, key=["tenant"]),)
    works = [work_of(store, limits=limits, args={"tenant": each}) for each in (1, 1, 2)]
    store.enqueue(works)

    begun = claim_each(store, [work.execution.id for work in works], session)

    assert [row is not None for row in begun] == [True, False, True]


def test_a_full_limit_parks_the_other_due_rows_too(store: Store) -> None:
    session, ids = session_of(store), limited(store, 5)
    later = enqueued(store, limits=ONE, due_in=HOUR)
    other = enqueued(store, limits=(Concurrency(1, tag="other"),))
    claimed(store, ids[0], session)

    assert claim_each(store, [ids[3]], session) == [None]

    assert parked(store, [*ids, later, other]) == ids[1:]
    assert [each.execution.id for each in store.due(wanted()).value] == [other]


def test_a_parked_row_is_neither_due_nor_waiting(store: Store) -> None:
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)

    assert store.due(wanted()).value == []
    assert store.due_ids(wanted(), within=HOUR).value == []
    assert store.waiting(None, horizon=HOUR, after="", limit=10).value.items == ()
    assert store.unannounced(horizon=HOUR, limit=10).value == []
    assert store.next_due(wanted()).value is None
    assert read(store, ids[1]).is_live


def test_limited_one_off_work_is_due_and_no_hot_claim_takes_it(store: Store) -> None:
    session, [identity] = session_of(store), limited(store, 1)

    assert store.claim_one_off(wanted(), session=session).value == []
    assert store.claim_one_off(wanted(), session=session, ids=[identity]).value == []
    assert [each.execution.id for each in store.due(wanted()).value] == [identity]
    assert store.due_ids(wanted(), within=HOUR).value == [identity]


def test_unlimited_work_starts_beside_a_full_limit(store: Store) -> None:
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    free = enqueued(store)
    row = due_schedule(store).rows[0]

    assert [each.id for each in store.claim_one_off(wanted(), session=session).value] == [free]
    assert claimed(store, row.id, session).state is State.RUNNING


# Going on


def test_a_settlement_makes_room_and_the_freed_row_is_due_now(store: Store) -> None:
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
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    expire(store, session)
    rescued(store, ids[0])

    assert [each.id for each in opened(store, *ids).freed] == [ids[1]]


def test_a_cancelled_parked_row_ends_and_is_freed_no_more(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3)
    first, *_ = claim_each(store, ids, session)
    assert first is not None

    assert store.cancel([ids[1]]) == [Cancelled.ENDED]
    succeed(store, first)

    assert [each.id for each in opened(store, *ids).freed] == [ids[2]]
    assert read(store, ids[1]).state is State.CANCELLED


def test_a_freed_row_that_is_cancelled_leaves_its_room_to_the_next(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3)
    first, *_ = claim_each(store, ids, session)
    assert first is not None
    succeed(store, first)
    opened(store, *ids)

    store.cancel([ids[1]])

    assert [each.id for each in opened(store, *ids).freed] == [ids[2]]


def test_a_retry_waits_for_the_limit_like_a_first_start(store: Store) -> None:
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
    session, limits = session_of(store), (Concurrency(2),)
    ids = limited(store, 3, limits=limits)
    begun = claim_each(store, ids, session)
    late = enqueued(store, limits=limits, due_in=timedelta(0))
    for row in begun[:2]:
        assert row is not None
        succeed(store, row)

    assert claim_each(store, [late], session) != [None]


def test_opening_frees_as_many_rows_as_there_is_room_for(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(3),)
    ids = limited(store, 8, limits=limits)
    begun = claim_each(store, ids, session)
    for row in begun[:2]:
        assert row is not None
        succeed(store, row)

    assert [each.id for each in opened(store, *ids).freed] == ids[3:5]


def test_without_keys_every_limit_is_opened_page_by_page(store: Store) -> None:
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


# Rates


def test_a_rate_parks_the_start_beyond_it_and_says_when_it_opens(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3, limits=(Rate("2/h"),))
    before = now_of(store)
    begun = claim_each(store, ids, session)
    after = now_of(store)

    assert [row is not None for row in begun] == [True, True, False]
    row = read(store, ids[2])
    assert row.held_by == "limit:rate:job:mail"
    assert row.reason == "held by limit: 2 starts in 1h of mail"
    found = opened(store, ids[2])
    assert found.freed == ()
    assert before + HOUR <= found.opens["rate:job:mail"] <= after + HOUR


def test_an_end_makes_no_room_under_a_rate(store: Store) -> None:
    session, ids = session_of(store), limited(store, 2, limits=(Rate("1/h"),))
    first, _ = claim_each(store, ids, session)
    assert first is not None

    succeed(store, first)

    assert opened(store, *ids).freed == ()


def test_a_rate_opens_when_its_oldest_start_is_as_old_as_the_period(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3, limits=(Rate("1/s"),))
    claim_each(store, ids, session)
    opens = opened(store, *ids).opens["rate:job:mail"]

    def freed() -> bool:
        return bool(opened(store, *ids).freed)

    assert eventually(freed)

    row = read(store, ids[1])
    assert row.due_at >= opens
    claimed(store, ids[1], session)
    assert parked(store, ids) == [ids[2]]


def test_after_freed_rows_a_rate_opens_when_they_are_as_old_as_the_period(store: Store) -> None:
    session, ids = session_of(store), limited(store, 3, limits=(Rate("1/s"),))
    claim_each(store, ids, session)
    found: list[Opened] = []

    def freed() -> bool:
        found.append(opened(store, *ids))
        return bool(found[-1].freed)

    assert eventually(freed)

    [row] = found[-1].freed
    assert found[-1].opens["rate:job:mail"] == row.due_at + timedelta(seconds=1)


def test_both_limits_of_an_execution_hold(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1), Rate("2/h"))
    ids = limited(store, 4, limits=limits)

    first, *_ = claim_each(store, ids, session)
    assert first is not None
    succeed(store, first)
    assert [each.id for each in opened(store, *ids).freed] == [ids[1]]
    succeed(store, claimed(store, ids[1], session))

    found = opened(store, *ids)
    assert found.freed == ()
    assert {read(store, each).held_by for each in ids[2:]} == {"limit:rate:job:mail"}
    assert list(found.opens) == ["rate:job:mail"]


# Schedules and switches


def test_a_parked_slot_starts_later_and_writes_its_successor(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1, tag="both"),)
    first = claimed(store, enqueued(store, limits=limits), session)
    row = due_schedule(store, limits=limits).rows[0]
    assert claim_each(store, [row.id], session) == [None]
    assert first_row(store).id == row.id

    succeed(store, first)
    assert [each.id for each in opened(store, row.id).freed] == [row.id]
    begun = claimed(store, row.id, session)

    assert begun.run_at == row.run_at
    assert first_row(store).run_at == row.run_at + HOUR


def test_a_parked_slot_of_a_disabled_schedule_ends(store: Store) -> None:
    session, limits = session_of(store), (Concurrency(1, tag="both"),)
    first = claimed(store, enqueued(store, limits=limits), session)
    row = due_schedule(store, limits=limits).rows[0]
    claim_each(store, [row.id], session)

    perform(store, plan_disable)

    assert not read(store, row.id).is_live
    succeed(store, first)
    assert opened(store, row.id).freed == ()
    assert view_of(store).schedule.next_run_at is None


def test_a_switch_that_is_turned_on_leaves_parked_rows_parked(store: Store) -> None:
    session, ids = session_of(store), limited(store, 2)
    claim_each(store, ids, session)
    switch = Switch("stop", "job:mail", "hold")
    store.switch(switch, off=True)
    born = enqueued(store, limits=ONE)
    assert read(store, born).held_by == "stop"

    store.switch(switch, off=False)

    assert read(store, born).held_by == ""
    assert parked(store, ids) == [ids[1]]


def test_limited_work_that_a_switch_stops_is_held_by_a_plan(store: Store) -> None:
    for mode in ("hold", "reject"):
        [identity] = limited(store, 1, tags=("night",))
        switch = Switch("stop", "tag:night", "hold" if mode == "hold" else "reject")
        store.switch(switch, off=True)
        [found] = [each for each in store.due(wanted()).value if each.execution.id == identity]

        claim = plan_claim(None, found.execution, (), moment_of(store), stopped_by=found.stopped_by)
        assert claim.verdict is Verdict.WAIT
        assert store.apply([order_of(claim.plan)]) == [True]

        assert read(store, identity).held_by == "stop"
        store.switch(switch, off=False)
        assert read(store, identity).held_by == ""
        store.cancel([identity])


def test_no_claim_of_a_stopped_row_with_a_limit_commits(store: Store) -> None:
    session, [identity] = session_of(store), limited(store, 1)
    order = claim_order(store, identity)
    store.switch(Switch("stop", "job:mail", "hold"), off=True)

    assert store.claim([order], session=session) == [None]
    assert read(store, identity).held_by == ""
