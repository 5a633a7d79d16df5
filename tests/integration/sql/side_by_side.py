"""Two stores that are asked the same, on one clock: every answer must be the same.

The memory store says what is right. Where the port promises no order, none is compared.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from random import Random
from typing import Any, TypeVar

from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    Verdict,
    plan_backfill,
    plan_claim,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_failure,
    plan_pause,
    plan_reconcile,
    plan_release,
    plan_rescue,
    plan_resume,
    plan_skip,
    plan_start,
    plan_success,
    plan_trigger,
)
from sempre.domain.policies import Retry
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.errors import Refused
from sempre.grids import Cron, Every
from sempre.ports.messages import (
    Birth,
    Candidate,
    ExecutionQuery,
    Order,
    Reading,
    ScheduleQuery,
    Session,
    Settlement,
    Switch,
    Tick,
    UniqueKey,
    View,
    Wanted,
    Work,
)
from sempre.ports.store import Store

__all__ = ["SideBySide", "VirtualClock"]

T = TypeVar("T")
START = datetime(2026, 3, 28, 23, 58, 30, 500_000, tzinfo=UTC)
LEASE = timedelta(seconds=30)
JOBS = ("bill", "mail", "sweep")
QUEUES = ("default", "slow")
NAMES = ("pair:bill", "pair:bill/1", *(f"schedule {number}" for number in range(4)))


class VirtualClock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at

    def elapsed(self) -> float:
        return (self.at - START).total_seconds()


class SideBySide:
    """One random life, led in two stores."""

    def __init__(self, seed: int, clock: VirtualClock, right: Store, other: Store) -> None:
        self.random = Random(seed)  # noqa: S311 - a seed makes a failure repeatable
        self.clock = clock
        self.stores = right, other
        self.births = 0
        self.ids: list[str] = []
        self.old_orders: list[Order] = []
        self.old_births: list[Birth] = []
        self.claimed: list[Execution] = []
        self.sessions = ["worker 1", "worker 2", "nobody"]
        self.tzdata = "2026.1"
        for session in self.sessions[:2]:
            self.register(session)

    def live(self, steps: int) -> None:
        """Do as many random things."""
        deeds = [
            *[self.create, self.verb, self.verb, self.trigger] * 2,
            *[self.claim, self.claim, self.settle, self.take, self.travel] * 4,
            *[self.enqueue, self.ask, self.look] * 2,
            *[self.cancel, self.ring, self.rescue, self.turn, self.purge, self.tick],
            *[self.repeat, self.reconcile, self.register, self.settle_late, self.hold_pass],
        ]
        for _ in range(steps):
            self.random.choice(deeds)()

    def both(self, ask: Callable[[Store], T], *, ordered: bool = True) -> T:
        """Ask both stores, compare, and return what is right."""
        expected, answer = (ask(store) for store in self.stores)
        shown = [comparable(expected), comparable(answer)]
        if not ordered:
            assert isinstance(expected, list | tuple)
            assert isinstance(answer, list | tuple)
            shown = [
                sorted(repr(comparable(each)) for each in found) for found in (expected, answer)
            ]
        assert shown[0] == shown[1], "; ".join(differences("answer", *shown)) or shown
        return expected

    # Things that happen

    def travel(self) -> None:
        self.clock.at += timedelta(seconds=self.random.choice([1, 5, 20, 60, 200, 5000]))
        if self.random.random() < 0.05:
            self.clock.at -= timedelta(seconds=90)
        if self.random.random() < 0.02:
            self.tzdata = self.random.choice(["2026.2", "2026.10", "2025.2"])

    def create(self) -> None:
        now = self.clock.now()
        choose = self.random.choice
        grid = choose([Every("1m"), Every("20s"), Cron("*/2 * * * *"), Cron("30 2 * * *")])
        definition = define(
            job=choose(JOBS),
            grid=grid,
            args={"n": choose([1, True, 1.5, "ü", None, [1, {"a": []}]])},
            queue=choose(QUEUES),
            priority=choose([1, 5, 1000]),
            overlap=choose(["skip", "wait", "allow", "replace"]),
            retry=choose([0, 2, Retry(3, base="5s", cap="1m")]),
            catch_up=choose([True, False]),
            deadline=choose([None, "30s", "1h"]),
            jitter=choose(["0s", "10s"]),
            limit=choose([None, None, 3]),
            until=choose([None, None, now + timedelta(minutes=5)]),
            on_unknown=choose(["rerun", "skip", "hold"]),
            tags=choose([[], ["red"], ["red", "blue"]]),
        )
        begun = Schedule(
            id=self.new_id(),
            name=choose(NAMES),
            definition=definition,
            created_at=now,
            cursor=now,
        )
        plan = plan_start(begun, (), self.moment)
        rows = tuple(draft.born(self.new_id(), now) for draft in plan.creates)
        bare = Birth(begun)
        birth = choose([Birth(plan.schedule or begun, rows), bare]) if rows else bare
        self.old_births.append(birth)
        self.both(lambda store: store.create([birth, birth]))

    def verb(self) -> None:
        view = self.a_view()
        if view is None:
            return
        choose, now = self.random.choice, self.clock.now()
        later = now + timedelta(seconds=choose([30, 300]))
        verbs: dict[Callable[..., Plan], dict[str, Any]] = {
            plan_start: {},
            plan_disable: {"actor": "ann"},
            plan_enable: {},
            plan_pause: {"until": choose([None, later]), "note": "späť"},
            plan_resume: {},
            plan_delete: {},
            plan_edit: {"to": view.schedule.definition.edited(args={"n": choose([1, True, 2])})},
            plan_skip: {"run_at": view.schedule.next_run_at or later},
            plan_backfill: {
                "start": now - timedelta(minutes=3),
                "end": now,
                "retention": timedelta(days=1),
            },
        }
        verb = choose(list(verbs))
        try:
            plan = verb(view.schedule, view.rows, self.moment, **verbs[verb])
        except Refused:
            return
        self.apply([plan])

    def trigger(self) -> None:
        if view := self.a_view():
            self.apply([plan_trigger(view.schedule, self.moment)])

    def reconcile(self) -> None:
        self.both(lambda store: store.doubtful(after="", limit=50).value)
        found = self.both(lambda store: store.slice(after="", limit=50).value)
        self.apply([plan_reconcile(each.schedule, each.rows, self.moment) for each in found])

    def claim(self) -> None:
        wanted = self.wanted(self.random.choice([1, 3, 10]))
        reading = self.both(lambda store: store.due(wanted))
        starts, rest = [], []
        for found in reading.value:
            claim = self.judged(found)
            if claim.verdict is Verdict.START:
                starts.append(self.order(claim.plan))
            elif not claim.plan.is_empty:
                rest.append(claim.plan)
        self.apply(rest)
        session = self.random.choice(self.sessions)
        started = self.both(lambda store: store.claim(starts, session=session))
        self.both(lambda store: store.claim(starts, session=session))
        self.claimed += [row for row in started if row]

    def take(self) -> None:
        session, wanted = self.random.choice(self.sessions), self.wanted(5)
        taken = self.both(lambda store: store.take(wanted, session=session))
        self.claimed += taken.value

    def settle(self) -> None:
        if not self.claimed:
            return
        claimed = self.claimed.pop(self.random.randrange(len(self.claimed)))
        found = self.both(lambda store: store.candidates([claimed.id]).value)
        current = found[0].execution if found else None
        if not current or (current.state, current.fence) != (State.RUNNING, claimed.fence):
            self.claimed.append(claimed)
            return
        view = found[0].view
        plan = self.ending(view.schedule if view else None, claimed)
        told = Settlement(claimed, plan, result={"rows": 3}, error="böse")
        self.both(lambda store: store.settle([told, told], session=claimed.session))

    def settle_late(self) -> None:
        if not self.claimed:
            return
        claimed = self.random.choice(self.claimed)
        told = Settlement(claimed, plan_success(claimed, self.moment), error="late")
        self.both(lambda store: store.settle([told, told], session="another"))

    def enqueue(self) -> None:
        works = [self.a_work() for _ in range(self.random.choice([1, 3]))]
        self.both(lambda store: store.enqueue([*works, works[0]]))

    def cancel(self) -> None:
        ids = [*self.random.sample(self.ids, min(3, len(self.ids))), "unknown"]
        self.both(lambda store: store.cancel(ids, actor="bob"))

    def ring(self) -> None:
        soon, queues = timedelta(minutes=2), frozenset(QUEUES)
        self.both(
            lambda store: store.waiting(queues, horizon=soon, after="", limit=999).value.items,
            ordered=False,
        )
        rows = self.both(lambda store: store.unrung(horizon=timedelta(minutes=2), limit=3)).value
        ids = [row.id for row in rows] + ["unknown"]
        self.both(lambda store: store.mark_rung(ids))

    def rescue(self) -> None:
        found = self.both(lambda store: store.expired(1000).value, ordered=False)
        for candidate in sorted(found, key=lambda each: each.execution.id)[:3]:
            [fresh] = self.both(
                lambda store, each=candidate: store.candidates([each.execution.id]).value  # type: ignore[misc]
            )
            schedule = fresh.view.schedule if fresh.view else None
            rows = fresh.view.rows if fresh.view else ()
            self.apply([plan_rescue(schedule, fresh.execution, rows, self.moment)])

    def turn(self) -> None:
        choose = self.random.choice
        target = choose(["job:bill", "queue:slow", "tag:red", "pair:bill", "pair:x", "all"])
        until = choose([None, self.clock.now() + timedelta(seconds=choose([-1, 20]))])
        switch = Switch(choose(["one", "two"]), target, choose(["hold", "reject"]), until=until)
        off = self.random.random() < 0.4
        self.both(lambda store: store.switch(switch, off=off))

    def purge(self) -> None:
        before = self.clock.now() - timedelta(seconds=self.random.choice([0, 60, 5000]))
        limit = self.random.choice([2, 100])
        self.both(lambda store: store.purge(before=before, limit=limit))

    def register(self, session: str = "") -> None:
        one = session or self.random.choice(self.sessions[:2])
        begun = Session(one, "höst", 12, QUEUES, JOBS, self.tzdata, 3)
        self.both(lambda store: store.register(begun, lease=LEASE))

    def tick(self) -> None:
        session, wanted = self.random.choice(self.sessions), self.wanted(1)

        def told(store: Store) -> Reading[Tick]:
            # Two stores have two identities, and each tells its own.
            reading = store.tick(session, wanted, lease=LEASE)
            assert reading.value.store == store.uuid
            return replace(reading, value=replace(reading.value, store=""))

        self.both(told)
        if self.random.random() < 0.1:
            self.both(lambda store: store.retire(session))

    def hold_pass(self) -> None:
        holder = self.random.choice(["a", "b"])
        every = timedelta(seconds=100)
        self.both(lambda store: store.begin_pass(holder=holder, every=every))
        other = self.random.choice(["a", "b"])
        self.both(lambda store: store.finish_pass(holder=other, report={"rows": 1, "ok": None}))
        self.both(lambda store: store.last_pass())

    def repeat(self) -> None:
        """Send something again, as after a reply that was lost."""
        if self.old_orders:
            order = self.random.choice(self.old_orders)
            self.both(lambda store: store.apply([order]))
        if self.old_births:
            birth = self.random.choice(self.old_births)
            self.both(lambda store: store.create([birth]))

    def ask(self) -> None:
        self.both(lambda store: store.views([*NAMES, "unknown"]))
        self.both(lambda store: store.astray(tzdata=self.tzdata, limit=1000).value, ordered=False)
        self.both(lambda store: store.sessions())
        sample = self.random.sample(self.ids, min(5, len(self.ids)))
        self.both(lambda store: store.candidates(sample))

    def look(self) -> None:
        choose, now = self.random.choice, self.clock.now()
        query = ExecutionQuery(
            schedule_id=choose([None, *self.ids[:3]]),
            job=choose([None, *JOBS]),
            states=choose([frozenset(), frozenset({State.SUCCEEDED, State.PENDING})]),
            kinds=choose([frozenset(), frozenset({Kind.SCHEDULED})]),
            since=choose([None, now - timedelta(minutes=5)]),
            until=choose([None, now]),
            limit=choose([1, 4, 50]),
        )
        page = self.both(lambda store: store.executions(query)).value
        if page.after:
            again = ExecutionQuery(**vars(query) | {"after": page.after})
            self.both(lambda store: store.executions(again))
        listed = ScheduleQuery(
            tag=choose([None, "red", "re"]), text=choose(["", "LE 3"]), limit=choose([2, 50])
        )
        self.both(lambda store: store.schedules(listed))
        for identity in self.random.sample(self.ids, min(4, len(self.ids))):
            self.both(lambda store, each=identity: store.attempts(each))  # type: ignore[misc]
            self.both(lambda store, each=identity: store.ranges(each, limit=4))  # type: ignore[misc]
            self.both(lambda store, each=identity: store.rollups(each))  # type: ignore[misc]

    # What they are made of

    @property
    def moment(self) -> PlanningTime:
        return PlanningTime(self.clock.now(), self.tzdata)

    def new_id(self) -> str:
        self.births += 1
        # Not in the order of birth, so that an order by id is one.
        self.ids.append(f"{self.random.randrange(1000):03}-{self.births}")
        return self.ids[-1]

    def order(self, plan: Plan) -> Order:
        order = Order(plan, tuple(self.new_id() for _ in plan.creates))
        self.old_orders.append(order)
        return order

    def apply(self, plans: Iterable[Plan]) -> None:
        orders = [self.order(plan) for plan in plans]
        self.both(lambda store: store.apply(orders))

    def a_view(self) -> View | None:
        name = self.random.choice(NAMES)
        found = self.both(lambda store: store.views([name]).value)
        return found[0] if found else None

    def judged(self, found: Candidate) -> Any:  # noqa: ANN401 - a Claim
        view = found.view
        assert view is not None
        switch = self.random.choice([found.stopped_by, found.stopped_by, None])
        return plan_claim(view.schedule, found.execution, view.rows, self.moment, stopped_by=switch)

    def ending(self, schedule: Schedule | None, claimed: Execution) -> Plan:
        match self.random.randrange(3):
            case 0:
                return plan_success(claimed, self.moment)
            case 1:
                return plan_failure(schedule, claimed, self.moment, error="böse")
            case _:
                return plan_release(schedule, claimed, self.moment)

    def a_work(self) -> Work:
        choose, now = self.random.choice, self.clock.now()
        snapshot = Snapshot(
            name=choose(["x", "y"]),
            job=choose(JOBS),
            args={"id": self.births},
            queue=choose(QUEUES),
            priority=choose([1, 1000]),
            retry=choose([Retry(0), Retry(2, base="1s", cap="20s")]),
        )
        row = Execution(
            id=self.new_id(),
            created_at=now,
            kind=Kind.ENQUEUED,
            run_at=now,
            due_at=now + timedelta(seconds=choose([0, 0, 20])),
            snapshot=snapshot,
            state=choose([State.PENDING, State.SCHEDULED]),
        )
        key = choose(["k1", "k2"])
        period = UniqueKey(key, "period", timedelta(seconds=40))
        return Work(row, choose([None, UniqueKey(key), UniqueKey(key, "live"), period]))

    def wanted(self, limit: int) -> Wanted:
        jobs = self.random.choice([JOBS, JOBS[:2]])
        queues = self.random.choice([QUEUES, QUEUES[:1]])
        overdue = self.random.choice([None, None, timedelta(0), timedelta(seconds=30)])
        return Wanted(frozenset(queues), frozenset(jobs), limit, overdue)


def comparable(value: object) -> object:
    """Return a value that is equal only to one of the same types, but for sums of seconds."""
    if isinstance(value, float):
        return round(value, 3)
    if is_dataclass(value) and not isinstance(value, type):
        told = {each.name: comparable(getattr(value, each.name)) for each in fields(value)}
        return type(value).__name__, told
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return type(value).__name__, [comparable(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return type(value).__name__, value


def differences(path: str, one: object, other: object) -> Iterator[str]:
    """Tell where two comparable values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differences(f"{path}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        for at, pair in enumerate(zip_longest(one, other)):
            yield from differences(f"{path}[{at}]", *pair)
    elif one != other:
        yield f"{path}: {one!r} expected, {other!r} answered"
