"""Contracts under races for schedules: the invariants hold afterwards, whichever thread wins."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections.abc import Callable
from functools import partial

from sempre.domain.planning import (
    Plan,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_pause,
    plan_skip,
    plan_unskip,
)
from sempre.domain.states import State
from sempre.ports.messages import Order, Switch
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    at_once,
    check_invariants,
    claim_order,
    draft_schedule,
    due_schedule,
    enqueued,
    history_of,
    moment_of,
    order_of,
    read,
    session_of,
    started,
    view_of,
    waiting_schedule,
    wanted,
)

MANY = 8


def test_of_many_births_of_one_name_at_once_one_is_made(store: Store) -> None:
    """The name is the arbiter."""
    schedules = [draft_schedule(store) for _ in range(MANY)]
    births = [started(each, at=each.created_at) for each in schedules]

    answers = at_once(*(partial(store.create, [birth]) for birth in births))

    assert _count([answer for [answer] in answers]) == 1
    check_invariants(store)


def test_one_order_repeated_at_once_is_done_once(store: Store) -> None:
    """Every caller gets "done"."""
    view = waiting_schedule(store)
    moment = moment_of(store)
    slot = view.rows[0].run_at
    order = order_of(plan_skip(view.schedule, view.rows, moment, run_at=slot))

    answers = at_once(*[partial(store.apply, [order])] * MANY)

    assert answers == [[True]] * MANY
    assert len(history_of(store, view.schedule)) == 3
    check_invariants(store)


def test_of_many_edits_at_once_one_wins(store: Store) -> None:
    """All edits were planned from one revision."""
    view = waiting_schedule(store)
    declared = view.schedule.definition
    edits = [
        plan_edit(view.schedule, view.rows, moment_of(store), to=declared.edited(priority=each))
        for each in range(MANY)
    ]

    answers = at_once(*(partial(store.apply, [order_of(edit)]) for edit in edits))

    assert _count([answer for [answer] in answers]) == 1
    assert view_of(store).schedule.revision == view.schedule.revision + 1
    check_invariants(store)


def test_a_claim_and_a_disable_at_once_leave_no_start_after_the_disable(store: Store) -> None:
    """In either order: if the claim won, the disable had to be planned again."""
    for number in range(MANY):
        name = f"billing-{number}"
        row = due_schedule(store, name).rows[0]
        session = session_of(store)
        claim = claim_order(store, row.id)
        disable = order_of(_planned(store, plan_disable, name))

        started, disabled = at_once(
            partial(_started, store, claim, session), partial(_applied, store, disable)
        )

        assert started != disabled
        if not disabled:
            assert _applied(store, order_of(_planned(store, plan_disable, name)))
        assert store.claim([_again(claim)], session=session_of(store)) == [None]
        assert not any(each.is_live for each in view_of(store, name).rows)
        check_invariants(store, name)


def test_a_claim_and_a_switch_at_once_leave_no_start_after_the_switch(store: Store) -> None:
    """Once the switch has returned, no waiting row starts."""
    switch = Switch("stop", "all", "hold")
    for number in range(MANY):
        row = due_schedule(store, f"billing-{number}").rows[0]
        ids = [row.id, enqueued(store)]
        session = session_of(store)
        claim = claim_order(store, row.id)

        def turn_off(ids: list[str] = ids) -> list[State]:
            store.switch(switch, off=True)
            return [read(store, each).state for each in ids]

        def start(claim: Order = claim, session: str = session) -> list[State]:
            _started(store, claim, session)
            store.claim_one_off(wanted(), session=session)
            return []

        [states, _] = at_once(turn_off, start)

        assert [read(store, each).state for each in ids] == states
        assert not _started(store, _again(claim), session_of(store))
        store.switch(switch, off=False)
        store.cancel(ids)


def test_of_many_passes_at_once_one_begins(store: Store) -> None:
    """Winning the row is the lock; one worker holds the lock at a time."""
    begun = at_once(
        *(partial(store.begin_pass, holder=f"holder-{at}", every=HOUR) for at in range(MANY))
    )

    [winner] = [each for each in begun if each]
    assert store.last_pass().value == winner


def test_verbs_and_claims_at_once_keep_one_next_row(store: Store) -> None:
    """With any winner the invariants hold; revision and starts count the winners."""
    due_schedule(store)
    revision = view_of(store).schedule.revision
    sessions = [session_of(store) for _ in range(2)]
    for _ in range(MANY):
        before = view_of(store).schedule
        orders = [order_of(plan) for plan in _everything(store)]
        claims = [
            partial(_started, store, claim_order(store, each.execution.id), session)
            for each in store.due(wanted()).value
            for session in sessions
        ]

        answers = at_once(*(partial(_applied, store, order) for order in orders), *claims)

        after = view_of(store).schedule
        won = _count(answers[: len(orders)])
        assert won <= 1
        assert after.revision == before.revision + won
        assert after.starts == before.starts + _count(answers[len(orders) :])
        assert after.cursor >= before.cursor
        check_invariants(store)
    assert view_of(store).schedule.revision > revision


def _everything(store: Store) -> list[Plan]:
    """Return plans that several people could make for the schedule at once."""
    view, moment = view_of(store), moment_of(store)
    schedule, rows = view.schedule, view.rows
    definition = schedule.definition
    slot = definition.grid.after(moment.now)
    assert slot is not None
    edited = definition.edited(priority=definition.priority + 1)
    plans = [
        plan_edit(schedule, rows, moment, to=edited),
        plan_disable(schedule, rows, moment),
        plan_enable(schedule, rows, moment),
        plan_pause(schedule, rows, moment, until=moment.now + 3 * HOUR, note=str(moment.now)),
        plan_skip(schedule, rows, moment, run_at=slot),
        plan_unskip(schedule, rows, moment, run_at=slot),
    ]
    return [plan for plan in plans if not plan.is_empty]


def _planned(store: Store, verb: Callable[..., Plan], name: str = "billing") -> Plan:
    view = view_of(store, name)
    return verb(view.schedule, view.rows, moment_of(store))


def _again(order: Order) -> Order:
    """Return the order with new ids, as another process would make it."""
    return order_of(order.plan)


def _started(store: Store, order: Order, session: str) -> bool:
    [execution] = store.claim([order], session=session)
    return execution is not None


def _applied(store: Store, order: Order) -> bool:
    [applied] = store.apply([order])
    return applied


def _count(answers: list[bool]) -> int:
    return sum(answers)
