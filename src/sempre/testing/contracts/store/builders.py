"""Builders of the store contracts: schedules, rows and orders around the store's own now.

A server's clock cannot be set. So a row is made due by giving it a slot in the past, a lease is
made to expire by a renewal of negative length, and every plan is made by the real planning
functions from a fresh reading of the store.
"""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any, TypeVar
from uuid import uuid4

from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    Verdict,
    plan_claim,
    plan_rescue,
    plan_start,
)
from sempre.domain.planning.plan import Change
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import (
    Birth,
    ExecutionQuery,
    Order,
    Session,
    Settled,
    Success,
    UniqueKey,
    View,
    Wanted,
    Work,
)
from sempre.ports.store import Store

__all__ = [
    "HOUR",
    "LEASE",
    "MINUTE",
    "TZDATA",
    "at_once",
    "check_invariants",
    "claim_order",
    "claimed",
    "draft_schedule",
    "due_schedule",
    "enqueued",
    "expire",
    "first_row",
    "hasten",
    "history_of",
    "moment_of",
    "new_id",
    "next_rows",
    "now_of",
    "order_of",
    "perform",
    "read",
    "rescued",
    "row_of",
    "session_of",
    "started",
    "succeed",
    "view_of",
    "waiting_schedule",
    "wanted",
    "without_lease",
    "work_of",
]

T = TypeVar("T")

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
LEASE = timedelta(hours=1)
TZDATA = "2026.1"
PATIENCE = 60.0


def new_id() -> str:
    """Return a new, unused id."""
    return str(uuid4())


def now_of(store: Store) -> datetime:
    """Return the store's now."""
    return store.last_pass().now


def moment_of(store: Store) -> PlanningTime:
    """Return the store's now as planning takes it."""
    return PlanningTime(now_of(store), TZDATA)


# Schedules


def draft_schedule(store: Store, name: str = "billing", **policies: object) -> Schedule:
    """Return a schedule that is not in the store: by default hourly, half an hour past its slot.

    Its cursor is a quarter of an hour before that slot.
    """
    now = now_of(store)
    given: dict[str, Any] = {"job": "bill", "grid": Every("1h", anchor=now - 30 * MINUTE)}
    since = now - 45 * MINUTE
    return Schedule(
        id=new_id(),
        name=name,
        definition=define(**(given | policies)),
        created_at=since,
        cursor=since,
    )


def started(schedule: Schedule, *, at: datetime, tzdata: str = TZDATA) -> Birth:
    """Return a schedule with its first row, as if it was started at an instant."""
    plan = plan_start(schedule, (), PlanningTime(at, tzdata))
    assert plan.schedule is not None
    rows = tuple(draft.born(new_id(), at) for draft in plan.creates)
    return Birth(plan.schedule, rows)


def due_schedule(store: Store, name: str = "billing", **policies: object) -> View:
    """Create a schedule whose first row has been due for half an hour; return its view."""
    schedule = draft_schedule(store, name, **policies)
    assert store.create([started(schedule, at=schedule.created_at)]) == [True]
    return view_of(store, name)


def waiting_schedule(store: Store, name: str = "billing", **policies: object) -> View:
    """Create a schedule whose first row is due in half an hour; return its view."""
    now = now_of(store)
    schedule = copy_with(draft_schedule(store, name, **policies), created_at=now, cursor=now)
    assert store.create([started(schedule, at=now)]) == [True]
    return view_of(store, name)


def view_of(store: Store, name: str = "billing") -> View:
    """Return the view of the schedule of a name."""
    [view] = store.views([name]).value
    return view


def next_rows(view: View) -> list[Execution]:
    """Return the candidates for the next row of a schedule."""
    cursor = view.schedule.cursor
    return [
        row for row in view.rows if row.is_untried and row.occupies_slot and row.run_at > cursor
    ]


def first_row(store: Store, name: str = "billing") -> Execution:
    """Return the one next row of a schedule."""
    [row] = next_rows(view_of(store, name))
    return row


# Rows


def row_of(view: View, run_at: datetime, **fields: object) -> Execution:
    """Return an execution of a schedule that is not in the store: by default one that waits."""
    given: dict[str, Any] = {
        "id": new_id(),
        "kind": Kind.SCHEDULED,
        "due_at": run_at,
        "snapshot": view.schedule.snapshot(),
        "schedule_id": view.schedule.id,
        "created_at": run_at,
        "tzdata": TZDATA,
    }
    return Execution(run_at=run_at, **(given | fields))


def read(store: Store, identity: str) -> Execution:
    """Read an execution from the store."""
    [found] = store.candidates([identity]).value
    return found.execution


def history_of(store: Store, schedule: Schedule) -> list[Execution]:
    """Return every execution of a schedule."""
    query = ExecutionQuery(schedule_id=schedule.id, limit=10_000)
    return list(store.executions(query).value.items)


def without_lease(row: Execution) -> Execution:
    """Return an execution without the lease, which belongs to the session."""
    return copy_with(row, leased_until=None)


# One-off work


def work_of(
    store: Store,
    *,
    unique: UniqueKey | None = None,
    due_in: timedelta = -MINUTE,
    **snapshot: object,
) -> Work:
    """Return a piece of one-off work, by default due a minute ago."""
    now = now_of(store)
    given: dict[str, Any] = {"name": "mail", "job": "mail"}
    execution = Execution(
        id=new_id(),
        kind=Kind.ENQUEUED,
        run_at=now + due_in,
        due_at=now + due_in,
        snapshot=Snapshot(**(given | snapshot)),
        created_at=now,
    )
    return Work(execution, unique)


def enqueued(store: Store, **options: Any) -> str:  # noqa: ANN401 - handed on as they are
    """Enqueue one-off work and return its id."""
    work = work_of(store, **options)
    [receipt] = store.enqueue([work])
    assert receipt.created
    assert receipt.id == work.execution.id
    return receipt.id


# Doing


def order_of(plan: Plan) -> Order:
    """Return an order for a plan, with a new id for each execution that the plan creates."""
    return Order(plan, tuple(new_id() for _ in plan.creates))


def perform(
    store: Store, verb: Callable[..., Plan], name: str = "billing", **options: object
) -> Plan:
    """Read a schedule, plan a verb and apply the plan, without concurrent writers."""
    reading = store.views([name])
    [view] = reading.value
    plan = verb(view.schedule, view.rows, PlanningTime(reading.now, TZDATA), **options)
    assert store.apply([order_of(plan)]) == [True]
    return plan


def wanted(*, limit: int = 100, queues: str = "default", jobs: str = "bill mail") -> Wanted:
    """Return the work that a worker accepts, by default all work of the contracts."""
    return Wanted(frozenset(queues.split()), frozenset(jobs.split()), limit)


def session_of(store: Store, *, lease: timedelta = LEASE) -> str:
    """Begin a session and return its id."""
    identity = new_id()
    store.register(Session(identity, host="test"), lease=lease)
    return identity


def expire(store: Store, session: str) -> None:
    """Let the lease of a session expire, a moment ago."""
    assert store.tick(session, wanted(), lease=-MINUTE).value.alive


def claim_order(store: Store, identity: str) -> Order:
    """Read an execution and return the order of its start."""
    reading = store.candidates([identity])
    [found] = reading.value
    moment = PlanningTime(reading.now, TZDATA)
    schedule, rows = (found.view.schedule, found.view.rows) if found.view else (None, ())
    answer = plan_claim(schedule, found.execution, rows, moment)
    assert answer.verdict is Verdict.START, answer
    return order_of(answer.plan)


def claimed(store: Store, identity: str, session: str) -> Execution:
    """Read an execution and start the execution, without concurrent writers."""
    [execution] = store.claim([claim_order(store, identity)], session=session)
    assert execution is not None
    return execution


def succeed(store: Store, execution: Execution) -> Settled:
    """Settle a claimed execution as done."""
    [settled] = store.settle([Success(execution, now_of(store))], session=execution.session)
    return settled


def rescued(store: Store, identity: str) -> Execution:
    """Take an execution back from its expired session."""
    reading = store.expired(1000)
    [found] = [each for each in reading.value if each.execution.id == identity]
    view = found.view
    schedule, rows = (view.schedule, view.rows) if view else (None, ())
    plan = plan_rescue(schedule, found.execution, rows, PlanningTime(reading.now, TZDATA))
    assert store.apply([order_of(plan)]) == [True]
    return read(store, identity)


def hasten(store: Store, *identities: str) -> None:
    """Let executions that wait to be tried again have waited long enough."""
    rows = [read(store, identity) for identity in identities]
    assert all(row.is_live and row.finished_at for row in rows), rows
    changes = [
        Change(row, copy_with(row, due_at=row.finished_at)) for row in rows if row.finished_at
    ]
    assert all(store.apply([Order(Plan(changes=(each,))) for each in changes]))


def at_once(*calls: Callable[[], T]) -> list[T]:
    """Make each call in a thread of its own, all released at one moment; return the results."""
    barrier = Barrier(len(calls))

    def call_at_once(call: Callable[[], T]) -> T:
        barrier.wait(timeout=PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call_at_once, calls))


def check_invariants(store: Store, name: str = "billing") -> None:
    """Assert the invariants of a schedule, which hold after every operation of any process."""
    view = view_of(store, name)
    schedule = view.schedule
    slots = [row.run_at for row in next_rows(view)]
    if schedule.wants_next_row and not (schedule.ended or schedule.broken):
        assert slots == [schedule.next_run_at]
    elif not schedule.broken:
        assert slots == []
        assert schedule.next_run_at is None
    rows = history_of(store, schedule)
    occupied = [row.run_at for row in rows if row.occupies_slot]
    assert len(occupied) == len(set(occupied))
    backfills = [row for row in rows if row.kind is Kind.BACKFILL]
    active = [row.run_at for row in backfills if row.is_live or row.state is State.RUNNING]
    assert len(active) == len(set(active))
    assert schedule.cursor <= now_of(store)
