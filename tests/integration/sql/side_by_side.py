"""Two stores that are asked the same, on one clock: every answer must be the same.

The memory store says what is right. Where the port promises no order, none is compared.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any, TypeVar

from sempre.domain.action import Action
from sempre.domain.definition import define
from sempre.domain.exception_types import type_names
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.limit_keys import keys_of
from sempre.domain.limits import Concurrency, Limit, Rate
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    Verdict,
    plan_backfill,
    plan_claim,
    plan_delete,
    plan_disable,
    plan_discard,
    plan_edit,
    plan_enable,
    plan_failure,
    plan_given_up,
    plan_pause,
    plan_reconcile,
    plan_release,
    plan_rename,
    plan_rescue,
    plan_resume,
    plan_retry,
    plan_retry_later,
    plan_skip,
    plan_start,
    plan_success,
    plan_trigger,
)
from sempre.domain.planning.fast_path import PlainStart, find_plain_start
from sempre.domain.policies import Retry
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.errors import Refused
from sempre.grids import Cron, Every
from sempre.ports.messages import (
    ActionQuery,
    Alike,
    Birth,
    Candidate,
    ExecutionQuery,
    Order,
    Reading,
    ScheduleQuery,
    Session,
    Settlement,
    Success,
    Switch,
    Tick,
    UniqueKey,
    View,
    Wanted,
    Work,
)
from sempre.ports.retention import Purge, Purged
from sempre.ports.run_logs import RunLog
from sempre.ports.store import Store
from tests.integration.sql.comparison import Fences, comparable, differences

__all__ = ["SideBySide", "VirtualClock"]

T = TypeVar("T")
START = datetime(2026, 3, 28, 23, 58, 30, 500_000, tzinfo=UTC)
LEASE = timedelta(seconds=30)
# Of callers with and without traces.
TRACES = ("", "", f"00-{7:032x}-{7:016x}-01")
JOBS = ("bill", "mail", "sweep")
QUEUES = ("default", "slow")
RETENTIONS = (timedelta(minutes=1), timedelta(hours=1))
LIMITS: list[tuple[Limit, ...]] = [
    *[()] * 10,
    (Concurrency(1),),
    (Concurrency(2, tag="t"),),
    (Rate("3/20s"),),
    (Concurrency(1, key=["number"]), Rate("5/m", tag="t")),
]
# Schedules that hardly ever change: their slots start on time, one after another.
QUIET = tuple(f"quiet {number}" for number in range(6))
RETRY = Retry(3, base="5s", cap="1m", jitter="1s", only=OSError, never=TimeoutError)
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
        # For deeds that change no execution: the lives of known seeds stay as they are.
        self.aside = Random(seed)  # noqa: S311 - as above
        self.ends = Random(seed)  # noqa: S311 - apart: new ends do not change all the rest
        self.clock = clock
        self.stores = right, other
        self.births = 0
        self.actions = 0
        self.ids: list[str] = []
        self.old_orders: list[Order] = []
        self.old_births: list[Birth] = []
        self.claimed: list[Execution] = []
        self.overtaken: list[Execution] = []
        self.enqueued: list[str] = []
        self.planned: dict[str, tuple[PlainStart, tuple[str, ...]]] = {}
        self.places: dict[Any, str] = {}
        self.fences = Fences()
        self.sessions = ["worker 1", "worker 2", "nobody"]
        self.tzdata = "2026.1"
        for session in self.sessions[:2]:
            self.register(session)
        for name in QUIET:
            self.create(name)

    def live(self, steps: int) -> None:
        """Do as many random things."""
        deeds = [
            *[self.create, self.verb, self.verb, self.trigger] * 2,
            *[self.claim, self.claim, self.settle, self.take, self.travel] * 4,
            *[self.prefetch, self.claim_planned, self.live_on, self.work_on_time] * 4,
            *[self.enqueue, self.enqueue_alike, self.ask, self.look] * 2,
            *[self.rescue, self.settle_late, self.retry, self.open_limits, self.open_limits] * 2,
            *[self.cancel, self.ring, self.turn, self.purge, self.tick],
            *[self.repeat, self.reconcile, self.register, self.hold_pass],
        ]
        for _ in range(steps):
            self.random.choice(deeds)()

    def both(self, ask: Callable[[Store], T], *, ordered: bool = True, starts: bool = False) -> T:
        """Ask both stores, compare, and return what is right."""
        expected, answer = (ask(store) for store in self.stores)
        if starts:
            self.fences.learn(expected, answer)
        shown = [comparable(expected), comparable(answer, self.fences.right_of)]
        if not ordered:
            assert isinstance(expected, list | tuple)
            assert isinstance(answer, list | tuple)
            shown = [
                sorted(repr(comparable(each)) for each in expected),
                sorted(repr(comparable(each, self.fences.right_of)) for each in answer),
            ]
        assert shown[0] == shown[1], "; ".join(differences("answer", *shown)) or shown
        return expected

    def given(self, store: Store, value: T) -> T:
        """Return an argument as a store has to be given it: with fences of its own."""
        return value if store is self.stores[0] else self.fences.for_other(value)

    # Things that happen

    def travel(self) -> None:
        seconds = self.random.choice([1, 5, 5, 10, 20, 20, 60, 200])
        self.clock.at += timedelta(seconds=5000 if self.random.random() < 0.05 else seconds)
        if self.random.random() < 0.05:
            self.clock.at -= timedelta(seconds=90)
        if self.random.random() < 0.02:
            self.tzdata = self.random.choice(["2026.2", "2026.10", "2025.2"])

    def create(self, name: str = "") -> None:
        """Create a schedule of any kind; a named one begins at once, and just runs."""
        now = self.clock.now()
        choose = self.random.choice
        grid = choose([Every("1m"), Every("20s"), Cron("*/2 * * * *"), Cron("30 2 * * *")])
        rest: dict[str, Any] = {
            "retry": choose([0, 2, RETRY]),
            "catch_up": choose([True, False]),
            "deadline": choose([None, "30s", "1h"]),
            "jitter": choose(["0s", "10s"]),
            "limit": choose([None, None, 3]),
            "limits": choose(LIMITS),
            "until": choose([None, None, now + timedelta(minutes=5)]),
            "on_unknown": choose(["rerun", "skip", "hold"]),
            "tags": choose([[], ["red"], ["red", "blue"]]),
            "retention": choose([None, None, *RETENTIONS]),
            "keep": choose([100, 0, 1, 2, 3]),
        }
        definition = define(
            job=choose(JOBS),
            grid=grid,
            args={"n": choose([1, True, 1.5, "ü", None, [1, {"a": []}]])},
            queue=choose(QUEUES),
            priority=choose([1, 5, 1000]),
            overlap=choose(["skip", "wait", "allow", "replace"]),
            **({} if name else rest),
        )
        begun = Schedule(
            id=self.new_id(),
            name=name or choose(NAMES),
            definition=definition,
            created_at=now,
            cursor=now,
        )
        plan = plan_start(begun, (), self.moment)
        rows = tuple(draft.born(self.new_id(), now) for draft in plan.creates)
        bare = Birth(begun)
        whole = Birth(plan.schedule or begun, rows)
        birth = choose([whole, whole if name else bare]) if rows else bare
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
            plan_rename: {"to": choose(NAMES)},
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
        self.both(lambda store: store.suspect(after="", limit=50).value)
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
        self.start(starts)

    def start(self, orders: list[Order]) -> None:
        session = self.random.choice(self.sessions)

        def claimed(store: Store) -> list[Execution | None]:
            return store.claim(self.given(store, orders), session=session)

        started = self.both(claimed, starts=True)
        self.both(claimed, starts=True)
        self.note_started(row for row in started if row)
        self.both(lambda store: store.running(session).value, ordered=False)

    def prefetch(self) -> None:
        """Plan the starts of slots that come soon."""
        wanted, within = self.wanted(20), timedelta(seconds=self.random.choice([0, 20, 120]))
        ids = self.both(lambda store: store.due_ids(wanted, within=within)).value
        for found in self.both(lambda store: store.candidates(ids)).value:
            view, row = found.view, found.execution
            if view is None or found.stopped_by or any(each.id != row.id for each in view.rows):
                continue
            start = find_plain_start(view.schedule, row, PlanningTime(row.due_at, self.tzdata))
            if start is not None:
                self.planned[row.id] = start, tuple(self.new_id() for _ in start.creates)

    def claim_planned(self) -> None:
        """Start what was planned before, though it may have changed since."""
        now = self.clock.now()
        right = [each for each in self.planned.values() if each[0].is_right_at(now)]
        for start, _ in right:
            del self.planned[start.row.id]
        self.start([Order(start.plan(now), ids) for start, ids in right])

    def work_on_time(self) -> None:
        """Plan ahead, wait for the next slot, start it, and end what runs: a worker's usual day."""
        self.live_on()
        self.prefetch()
        wanted = Wanted(frozenset(QUEUES), frozenset(JOBS), 1)
        next_due_at = self.both(lambda store: store.next_due(wanted)).value
        if next_due_at is not None and next_due_at < self.clock.now() + LEASE:
            self.clock.at = next_due_at
        self.random.choice([self.claim, self.claim_planned])()
        for _ in range(3):
            self.settle()

    def take(self) -> None:
        session, wanted = self.random.choice(self.sessions), self.wanted(5)
        known = self.random.sample(self.enqueued, min(10, len(self.enqueued)))
        ids = self.random.choice([None, None, None, known])
        taken = self.both(
            lambda store: store.claim_one_off(wanted, session=session, ids=ids), starts=True
        )
        self.note_started(taken.value)

    def note_started(self, rows: Iterable[Execution]) -> None:
        """Note who holds these now; a claim that somebody held before comes too late to settle."""
        for row in rows:
            self.overtaken += [each for each in self.claimed if each.id == row.id]
            self.claimed = [each for each in self.claimed if each.id != row.id]
            self.claimed.append(row)

    def settle(self) -> None:
        ended: list[Settlement] = []
        session = self.random.choice(self.sessions)
        for claimed in [each for each in self.claimed if each.session == session]:
            if len(ended) == 3 or self.random.random() < 0.5:
                continue
            found = self.both(lambda store, each=claimed: store.candidates([each.id]).value)  # type: ignore[misc]
            current = found[0].execution if found else None
            if not current or (current.state, current.fence) != (State.RUNNING, claimed.fence):
                continue
            self.claimed.remove(claimed)
            view = found[0].view
            ended.append(self.ending(view.schedule if view else None, claimed))
        self.both(
            lambda store: store.settle(self.given(store, [*ended, *ended[:1]]), session=session)
        )
        over = {each.execution.id for each in ended}
        self.settle_late([each for each in self.overtaken if each.id in over])

    def settle_late(self, claims: Sequence[Execution] | None = None) -> None:
        """Settle a claim once more, or one that somebody else has by now."""
        self.log()
        held = self.random.choice([self.claimed, self.overtaken]) if claims is None else claims
        if not held:
            return
        claimed, now = self.random.choice(list(held)), self.clock.now()
        plain = Settlement(claimed, plan_success(claimed, self.moment), "late")
        late = self.random.choice([plain, Success(claimed, now), Success(claimed, now, "late")])
        session = self.random.choice(["another", claimed.session])
        self.both(lambda store: store.settle(self.given(store, [late, late]), session=session))
        self.both(lambda store: store.attempts(claimed.id))

    def log(self) -> None:
        """Write logs of runs, also of runs that are lost, ended or purged, and of no run."""
        held = [*self.claimed, *self.overtaken]
        for row in self.aside.sample(held, min(3, len(held))):
            text = self.aside.choice(["one line", "two\n  lines ü", ""])
            log = RunLog(row.id, row.fence, text)
            session = self.aside.choice(["another", row.session, row.session])
            self.both(
                lambda store, logs=(log, log), by=session: store.write_logs(  # type: ignore[misc]
                    self.given(store, logs), session=by
                )
            )
            self.both(lambda store, each=row.id: store.run_logs(each))  # type: ignore[misc]

    def enqueue(self) -> None:
        works = [self.a_work() for _ in range(self.random.choice([1, 3]))]
        self.enqueued += [work.execution.id for work in works]
        self.both(lambda store: store.enqueue([*works, works[0]]))

    def enqueue_alike(self) -> None:
        """Enqueue work that differs in id and arguments only, some of it once more."""
        blank = self.a_work().execution
        fresh = [self.new_id() for _ in range(self.random.choice([1, 3, 30]))]
        known = self.random.sample(self.enqueued, min(2, len(self.enqueued)))
        ids = self.random.choice([fresh, fresh, [*fresh, *known]])
        works = Alike(
            copy_with(blank, id="", snapshot=copy_with(blank.snapshot, args={})),
            {each: {"number": at, "text": "ü"} for at, each in enumerate(ids)},
        )
        self.enqueued += fresh
        plain = self.random.random() < 0.5
        self.both(lambda store: store.enqueue(list(works) if plain else works))
        if self.random.random() < 0.2:
            self.both(lambda store: store.enqueue(works))

    def cancel(self) -> None:
        ids = [*self.random.sample(self.ids, min(3, len(self.ids))), "unknown"]
        actions = [self.action("cancel") for _ in ids]
        self.both(lambda store: store.cancel(ids, actor="bob", actions=actions))

    def retry(self) -> None:
        """Retry executions that have ended, and discard some failures."""
        ids = self.random.sample(self.ids, min(40, len(self.ids)))
        plans = []
        for found in self.both(lambda store: store.candidates(ids).value):
            schedule, row = found.view.schedule if found.view else None, found.execution
            rows = [each for each in (found.view.rows if found.view else ()) if each.id != row.id]
            try:
                if row.state is State.FAILED and self.random.random() < 0.2:
                    plans.append(plan_discard(row, actor="ann"))
                else:
                    plans.append(plan_retry(schedule, row, rows, self.moment, actor="ann"))
            except Refused:
                continue
        self.apply(plans[:3])

    def action(self, verb: str) -> Action:
        self.actions += 1
        target = self.random.choice(["schedule:a", "schedule:b", "switch:č"])
        return Action(id=f"action {self.actions:06}", verb=verb, target=target, after={"n": 1})

    def ring(self) -> None:
        soon, queues = timedelta(minutes=2), frozenset(QUEUES)
        self.both(
            lambda store: store.waiting(queues, horizon=soon, after="", limit=999).value.items,
            ordered=False,
        )
        rows = self.both(
            lambda store: store.unannounced(horizon=timedelta(minutes=2), limit=3)
        ).value
        ids = [row.id for row in rows] + ["unknown"]
        self.both(lambda store: store.mark_announced(ids))

    def rescue(self) -> None:
        if self.random.random() < 0.5:
            self.clock.at += LEASE
        found = self.both(lambda store: store.expired(1000).value, ordered=False)
        for candidate in sorted(found, key=lambda each: each.execution.id)[:3]:
            [fresh] = self.both(
                lambda store, each=candidate: store.candidates([each.execution.id]).value  # type: ignore[misc]
            )
            schedule = fresh.view.schedule if fresh.view else None
            rows = fresh.view.rows if fresh.view else ()
            self.apply([plan_rescue(schedule, fresh.execution, rows, self.moment)])

    def open_limits(self) -> None:
        """Free what waits for limits: of a few executions, or of every limit."""
        known = self.random.sample(self.ids, min(10, len(self.ids)))
        rows = [each.execution for each in self.stores[0].candidates(known).value]
        keys = self.random.choice([None, keys_of(rows)])
        limit = self.random.choice([1, 1000])

        def opened(store: Store) -> tuple[object, ...]:
            found = store.open_limits(keys, limit=limit).value
            return sorted(found.freed), dict(found.opens), found.last

        self.both(opened)

    def turn(self) -> None:
        choose = self.random.choice
        target = choose(["job:bill", "queue:slow", "tag:red", "pair:bill", "pair:x", "all"])
        until = choose([None, self.clock.now() + timedelta(seconds=choose([-1, 20]))])
        switch = Switch(choose(["one", "two"]), target, choose(["hold", "reject"]), until=until)
        off = self.random.random() < 0.4
        self.both(lambda store: store.switch(switch, off=off))

    def purge(self) -> None:
        """Purge some pages, from where the last one under this retention ended, or all anew."""
        choose = self.random.choice
        retention: Any = choose(["setting", "any", "any", *RETENTIONS])
        before = self.clock.now() - timedelta(seconds=choose([0, 60, 5000]))
        after = choose([self.places.get(retention, ""), ""])
        for keep in choose([(None,), (None,), (2, 1), (100, None, 0)]):
            asked = Purge(
                before=before,
                limit=choose([1, 2, 2, 100]),
                retention=retention,
                after=after,
                keep=keep,
                count_only=self.random.random() < 0.2,
            )
            after = self.places[retention] = self.both(partial(_purged, asked=asked)).after
        self.both(lambda store: store.retentions())
        # Not by chance: another draw would change every life, and the ways that lives go.
        if self.births % 3 == 0:
            self.both(lambda store: store.purge_ranges(before=before, limit=1 + self.births % 2))

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
        elif self.aside.random() < 0.1:
            self.both(lambda store: store.drain([session, "unknown"]))

    def live_on(self) -> None:
        """Let both workers show that they are alive, or come back if they were not."""
        for session in self.sessions[:2]:
            self.register(session)

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
            self.both(lambda store: store.apply(self.given(store, [order])))
        if self.old_births:
            birth = self.random.choice(self.old_births)
            self.both(lambda store: store.create([birth]))

    def ask(self) -> None:
        self.both(lambda store: store.views([*NAMES, *QUIET, "unknown"]))
        self.both(
            lambda store: store.needing_repair(tzdata=self.tzdata, limit=1000).value, ordered=False
        )
        self.both(lambda store: store.sessions())
        sample = self.random.sample(self.ids, min(5, len(self.ids)))
        self.both(lambda store: store.candidates(sample))
        self.both(lambda store: store.execution_ids(self.ids[-1][:-1], limit=20))
        self.both(lambda store: store.held(limit=1000).value, ordered=False)

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
        logged = ActionQuery(
            target=choose([None, "schedule:a", "switch:č"]), verb=choose([None, "plan"]), limit=5
        )
        self.both(lambda store: store.actions(logged))
        for identity in self.random.sample(self.ids, min(4, len(self.ids))):
            self.both(lambda store, each=identity: store.attempts(each))  # type: ignore[misc]
            self.both(lambda store, each=identity: store.ranges(each, limit=4))  # type: ignore[misc]
            middle = self.clock.now() - timedelta(seconds=60)
            self.both(partial(_ranges_before, identity=identity, before=middle))
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
        action = self.random.choice([None, self.action("plan")])
        order = Order(plan, tuple(self.new_id() for _ in plan.creates), action)
        self.old_orders.append(order)
        return order

    def apply(self, plans: Iterable[Plan]) -> None:
        orders = [self.order(plan) for plan in plans]
        self.both(lambda store: store.apply(self.given(store, orders)))

    def a_view(self) -> View | None:
        name = self.random.choice([*NAMES * 4, *QUIET])
        found = self.both(lambda store: store.views([name]).value)
        return found[0] if found else None

    def judged(self, found: Candidate) -> Any:  # noqa: ANN401 - a Claim
        view, row = found.view, found.execution
        schedule, rows = (view.schedule, view.rows) if view else (None, ())
        assert view is not None or row.snapshot.limits
        switch = self.random.choice([found.stopped_by, found.stopped_by, None])
        return plan_claim(schedule, row, rows, self.moment, stopped_by=switch)

    def ending(self, schedule: Schedule | None, claimed: Execution) -> Settlement:
        result: dict[str, Any] | None = self.random.choice([None, {"rows": 3}])
        match self.random.randrange(6):
            case 0 | 1:
                return Settlement(claimed, plan_success(claimed, self.moment), result=result)
            case 2 | 3:
                return Success(claimed, self.clock.now(), result)
            case 4:
                return Settlement(claimed, self.bad_end(schedule, claimed), error="böse")
            case _:
                return Settlement(claimed, plan_release(schedule, claimed, self.moment))

    def bad_end(self, schedule: Schedule | None, claimed: Execution) -> Plan:
        match self.ends.randrange(8):
            case 0:
                return plan_given_up(claimed, self.moment, reason="böse")
            case 1:
                waits: list[timedelta | datetime] = [timedelta(seconds=5), self.clock.now()]
                after = self.ends.choice(waits)
                return plan_retry_later(schedule, claimed, self.moment, after=after)
            case _:
                error = self.ends.choice([ConnectionError, OSError, TimeoutError, ValueError])
                types = type_names(error)
                return plan_failure(schedule, claimed, self.moment, error="böse", types=types)

    def a_work(self) -> Work:
        choose, now = self.random.choice, self.clock.now()
        snapshot = Snapshot(
            name=choose(["x", "y"]),
            job=choose(JOBS),
            args={"id": self.births},
            queue=choose(QUEUES),
            priority=choose([1, 1000]),
            retry=choose([Retry(0), Retry(2, base="1s", cap="20s")]),
            limits=choose(LIMITS),
            trace=TRACES[self.births % len(TRACES)],
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


def _ranges_before(store: Store, *, identity: str, before: datetime) -> Reading[list[SlotRange]]:
    return store.ranges(identity, limit=4, before=before)


def _purged(store: Store, asked: Purge) -> Purged:
    return store.purge(asked)
