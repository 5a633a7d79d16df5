"""Every writing operation of the port, as a deed that can be done, lost and done again.

`take` is not among them: the port says that it cannot be repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sempre.domain.planning import plan_disable, plan_edit, plan_failure, plan_success, plan_trigger
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.grids import Every
from sempre.ports.messages import (
    Birth,
    Cancelled,
    Enqueued,
    ExecutionQuery,
    ScheduleQuery,
    Session,
    Settled,
    Settlement,
    Switch,
    UniqueKey,
    View,
)
from sempre.ports.retention import Purge
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    LEASE,
    MINUTE,
    claim_order,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    expire,
    moment_of,
    new_id,
    now_of,
    order_of,
    read,
    rescued,
    row_of,
    session_of,
    started,
    waiting_schedule,
    wanted,
    without_lease,
    work_of,
)

__all__ = ["DEEDS", "QUESTIONS", "Deed", "everything"]


@dataclass(frozen=True)
class Deed:
    """An order, with the answer it gets, and the one it gets if it was carried out before.

    Attributes:
        act: gives the order to a store, the same one every time.
        first: the answer that was promised.
        again: the answer that was promised to whoever repeats it.
    """

    act: Callable[[Store], object]
    first: Callable[[], object]
    again: Callable[[], object]


def everything(store: Store) -> dict[str, object]:
    """Return all that a store tells, but for when a session or a pass was last heard of."""
    schedules = store.schedules(ScheduleQuery(limit=10_000)).value.items
    rows = store.executions(ExecutionQuery(limit=10_000)).value.items
    last = store.last_pass().value
    return {
        "schedules": schedules,
        "rows": [without_lease(row) for row in rows],
        "attempts": [store.attempts(row.id).value for row in rows],
        "ranges": [store.ranges(each.id, limit=100).value for each in schedules],
        "rollups": [store.rollups(each.id).value for each in schedules],
        "sessions": sorted(each.id for each in store.sessions().value),
        "pass": (last.due_at if last.holder else None, last.holder, last.report),
        "switches": store.switches().value,
        "cancelled": [
            store.tick(each.id, wanted(), lease=LEASE).value.cancelled
            for each in store.sessions().value
        ],
    }


def _always(answer: object) -> Callable[[], object]:
    return lambda: answer


def _same(act: Callable[[Store], object], answer: object) -> Deed:
    return Deed(act, _always(answer), _always(answer))


def _create(store: Store) -> Deed:
    schedule = draft_schedule(store, new_id())
    birth = started(schedule, at=schedule.created_at)
    return _same(lambda each: each.create([birth]), [True])


def _apply_an_edit(store: Store) -> Deed:
    name = new_id()
    view = waiting_schedule(store, name)
    to = view.schedule.definition.edited(priority=7)
    plan = plan_edit(view.schedule, view.rows, moment_of(store), to=to)
    assert plan.creates
    order = order_of(plan)
    return _same(lambda each: each.apply([order]), [True])


def _apply_a_trigger(store: Store) -> Deed:
    view = waiting_schedule(store, new_id())
    order = order_of(plan_trigger(view.schedule, moment_of(store)))
    return _same(lambda each: each.apply([order]), [True])


def _apply_what_creates_nothing(store: Store) -> Deed:
    view = waiting_schedule(store, new_id())
    plan = plan_disable(view.schedule, view.rows, moment_of(store))
    assert not plan.creates
    order = order_of(plan)
    return Deed(lambda each: each.apply([order]), _always([True]), _always([False]))


def _claim(store: Store) -> Deed:
    return _claim_of(store, due_schedule(store, new_id()).rows[0].id)


def _claim_that_is_late(store: Store) -> Deed:
    """Its plan moves the cursor past slots that were missed, and writes down which."""
    grid = Every("1m", anchor=now_of(store) - 30 * MINUTE)
    return _claim_of(store, due_schedule(store, new_id(), grid=grid, tolerance=MINUTE).rows[0].id)


def _claim_of_one_off_work(store: Store) -> Deed:
    return _claim_of(store, enqueued(store))


def _claim_of(store: Store, identity: str) -> Deed:
    session = session_of(store)
    order = claim_order(store, identity)

    def held() -> object:
        row = read(store, identity)
        assert (row.state, row.session, row.attempt) == (State.RUNNING, session, 1)
        return [row]

    return Deed(lambda each: each.claim([order], session=session), held, held)


def _settle_success(store: Store) -> Deed:
    row = claimed(store, due_schedule(store, new_id()).rows[0].id, session_of(store))
    settlement = Settlement(row, plan_success(row, moment_of(store)), result={"sent": 7})
    return _same(lambda each: each.settle([settlement], session=row.session), [Settled.DONE])


def _settle_failure_with_retry(store: Store) -> Deed:
    view = due_schedule(store, new_id(), retry=Retry(3, base="1h", cap="2h"))
    row = claimed(store, view.rows[0].id, session_of(store))
    [now] = store.views([view.schedule.name]).value
    plan = plan_failure(now.schedule, row, moment_of(store), error="boom")
    settlement = Settlement(row, plan, error="boom")
    return _same(lambda each: each.settle([settlement], session=row.session), [Settled.DONE])


def _settle_too_late(store: Store) -> Deed:
    row = claimed(store, due_schedule(store, new_id()).rows[0].id, session_of(store))
    expire(store, row.session)
    rescued(store, row.id)
    settlement = Settlement(row, plan_success(row, moment_of(store)), result="slow")
    return _same(lambda each: each.settle([settlement], session=row.session), [Settled.LATE])


def _enqueue(store: Store) -> Deed:
    works = [work_of(store), work_of(store, unique=UniqueKey(new_id()))]
    receipts = [Enqueued(work.execution.id) for work in works]
    return _same(lambda each: each.enqueue(works), receipts)


def _cancel_what_waits(store: Store) -> Deed:
    """Told again it is over, which it is."""
    ids = [enqueued(store), enqueued(store)]
    done, over = [Cancelled.ENDED] * 2, [Cancelled.OVER] * 2
    return Deed(lambda each: each.cancel(ids, actor="ann"), _always(done), _always(over))


def _cancel_what_runs(store: Store) -> Deed:
    row = claimed(store, enqueued(store), session_of(store))
    return _same(lambda each: each.cancel([row.id], actor="ann"), [Cancelled.ASKED])


def _register(store: Store) -> Deed:  # noqa: ARG001
    session = Session(new_id(), host="here")
    return _same(lambda each: each.register(session, lease=LEASE).value.id, session.id)


def _retire(store: Store) -> Deed:
    session = session_of(store)
    return _same(lambda each: each.retire(session), None)


def _mark_rung(store: Store) -> Deed:
    ids = [enqueued(store), enqueued(store)]
    return Deed(lambda each: each.mark_announced(ids), _always(2), _always(0))


def _begin_pass(store: Store) -> Deed:
    """Whoever does not hear that it has the pass leaves it to the next interval."""
    assert store.begin_pass(holder="another", every=-MINUTE)
    holder = new_id()

    def act(each: Store) -> object:
        begun = each.begin_pass(holder=holder, every=5 * MINUTE)
        return begun and begun.holder

    return Deed(act, _always(holder), _always(None))


def _finish_pass(store: Store) -> Deed:
    holder = new_id()
    store.begin_pass(holder="another", every=-MINUTE)
    assert store.begin_pass(holder=holder, every=-MINUTE)
    report = {"holder": holder}
    return _same(lambda each: each.finish_pass(holder=holder, report=report), None)


def _purge(store: Store) -> Deed:
    schedule = draft_schedule(store, new_id())
    before = now_of(store) - timedelta(days=10)
    begun = before - MINUTE
    times: dict[str, Any] = {"first_started_at": begun, "started_at": begun, "finished_at": begun}
    over = {"kind": Kind.MANUAL, "state": State.SUCCEEDED, "attempt": 1}
    rows = [row_of(View(schedule), begun, **over, **times) for _ in range(3)]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    act = lambda each: each.purge(Purge(before=before, limit=100, keep=0)).count  # noqa: E731
    return Deed(act, _always(3), _always(0))


def _switch_off(store: Store) -> Deed:  # noqa: ARG001
    return _turn(Switch(new_id(), "job:letters", "hold"), off=True)


def _switch_on(store: Store) -> Deed:
    switch = Switch(new_id(), "job:letters", "hold")
    store.switch(switch, off=True)
    assert store.enqueue([work_of(store, job="letters")])[0].created
    return _turn(switch, off=False)


def _turn(switch: Switch, *, off: bool) -> Deed:
    return _same(lambda each: switch in each.switch(switch, off=off).value, off)


def _upgrade(store: Store) -> Deed:
    """The order to set up what is set up already changes nothing, however often it is given."""
    identity = store.uuid

    def act(each: Store) -> object:
        each.upgrade()
        return each.uuid

    return _same(act, identity)


DEEDS: dict[str, Callable[[Store], Deed]] = {
    make.__name__.strip("_"): make
    for make in (
        _create,
        _apply_an_edit,
        _apply_a_trigger,
        _apply_what_creates_nothing,
        _claim,
        _claim_that_is_late,
        _claim_of_one_off_work,
        _settle_success,
        _settle_failure_with_retry,
        _settle_too_late,
        _enqueue,
        _cancel_what_waits,
        _cancel_what_runs,
        _register,
        _retire,
        _mark_rung,
        _begin_pass,
        _finish_pass,
        _purge,
        _switch_off,
        _switch_on,
        _upgrade,
    )
}

QUESTIONS: dict[str, Callable[[Store], object]] = {
    "views": lambda store: store.views(["billing"]),
    "due": lambda store: store.due(wanted()),
    "candidates": lambda store: store.candidates(["one"]),
    "claim_one_off": lambda store: store.claim_one_off(wanted(), session="one"),
    "tick": lambda store: store.tick("one", wanted(), lease=LEASE),
    "running": lambda store: store.running("one"),
    "sessions": lambda store: store.sessions(),
    "expired": lambda store: store.expired(10),
    "unannounced": lambda store: store.unannounced(horizon=LEASE, limit=10),
    "waiting": lambda store: store.waiting(
        frozenset({"default"}), horizon=LEASE, after="", limit=10
    ),
    "needing_repair": lambda store: store.needing_repair(tzdata="2026.1", limit=10),
    "suspect": lambda store: store.suspect(after="", limit=10),
    "slice": lambda store: store.slice(after="", limit=10),
    "last_pass": lambda store: store.last_pass(),
    "executions": lambda store: store.executions(ExecutionQuery()),
    "schedules": lambda store: store.schedules(ScheduleQuery()),
    "ranges": lambda store: store.ranges("one", limit=10),
    "attempts": lambda store: store.attempts("one"),
    "rollups": lambda store: store.rollups("one"),
}
"""The other operations of the port, which change nothing here."""
