"""The workshop: a store with workers driven by hand, an operator, and the audit of every write.

Schedules are placed in the past around the store's own now, so that nothing has to be waited for.
"""

# ruff: noqa: S101, ANN401 - a contract asserts; settings are handed on as they are

from datetime import datetime
from typing import Any

from sempre.app.application import Sempre
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.brokers.store import StoreBroker
from sempre.clock import Clock, SystemClock
from sempre.config import Settings
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import PlanningTime, plan_claim
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.worker_spec import WorkerSpec
from sempre.grids import Every
from sempre.ports.broker import Broker
from sempre.ports.executor import Task
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.engine.audit import Audit, audited
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, Hands
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    draft_schedule,
    due_schedule,
    history_of,
    now_of,
    order_of,
    row_of,
    started,
    view_of,
)

__all__ = ["Workshop"]


class Workshop:
    """A store with all processes that work on the store.

    Attributes:
        bare: the store itself, for writes that no engine makes.
        store: `bare`, audited after every write.
        now: the store's now when the contract began.
    """

    def __init__(self, store: Store) -> None:
        """Begin with an empty store."""
        self.bare = store
        self.store = audited(store, Audit(store))
        self.now = now_of(store)

    # Time

    def ago(self, minutes: float) -> datetime:
        """Return the instant these minutes before the contract began; later if negative."""
        return self.now - minutes * MINUTE

    def hourly(self) -> Every:
        """Return a slot 30 minutes ago, one in 30 minutes, and so on."""
        return Every("1h", anchor=self.ago(30))

    def tens(self) -> Every:
        """Return slots 44, 34, 24, 14 and 4 minutes ago, in 6 minutes, and so on."""
        return Every("10m", anchor=self.ago(44))

    def minutes(self, instant: datetime) -> int:
        """Return how many whole minutes ago a slot is."""
        return round((self.now - instant) / MINUTE)

    def minutes_of(self, rows: list[Execution]) -> list[int]:
        """Return how many minutes ago the slots of executions are."""
        return [self.minutes(row.run_at) for row in rows]

    # People

    def engine(
        self,
        *,
        broker: Broker | None = None,
        tzdata: str = TZDATA,
        clock: Clock | None = None,
        **settings: Any,
    ) -> Engine:
        """Return the engine of a process of its own, without a worker."""
        chosen = Settings(**({"lease": HOUR, "sweep": 30 * MINUTE} | settings))
        clock, events = clock or SystemClock(), Events()
        bell = Bell(
            self.store,
            broker or StoreBroker(),
            horizon=chosen.horizon,
            clock=clock,
            events=events,
        )
        return Engine(self.store, bell, chosen, clock, events, tzdata)

    def worker(
        self,
        *,
        jobs: str = "bill mail",
        queues: str = "default",
        hands: int = 8,
        holding: bool = False,
        **engine: Any,
    ) -> DrivenWorker:
        """Return a worker, which has not taken a step yet."""
        tasks = {name: Task(name, print) for name in jobs.split()}
        spec = WorkerSpec(tasks, frozenset(queues.split()), hands)
        return DrivenWorker(self.engine(**engine), spec, Hands(holding=holding))

    def schedule(self, name: str = "billing", **engine: Any) -> StoredSchedule:
        """Return the operator's handle of a schedule."""
        return StoredSchedule(self.engine(**engine), name, actor="operator")

    def app(self, *, broker: Broker | None = None, **settings: Any) -> Sempre:
        """Return an application on the store."""
        return Sempre(self.store, broker=broker or StoreBroker(), **settings)

    # What there is

    def row(self, name: str = "billing") -> Schedule:
        """Read a schedule from the store."""
        return view_of(self.bare, name).schedule

    def rows(self, name: str = "billing") -> list[Execution]:
        """Return every execution of a schedule, earliest slot first."""
        return history_of(self.bare, self.row(name))[::-1]

    def ranges(self, name: str = "billing") -> list[SlotRange]:
        """Return the stretches of slots without a row, earliest first."""
        return self.bare.ranges(self.row(name).id, limit=100).value[::-1]

    def told(self, name: str = "billing") -> list[tuple[int, str]]:
        """Return the state of every slot with a row, by minutes ago."""
        rows = [row for row in self.rows(name) if row.occupies_slot]
        return [(self.minutes(row.run_at), row.state.value) for row in rows]

    # The state before a contract

    def due(self, name: str = "billing", **policies: object) -> View:
        """Create an hourly schedule whose first row has been due for half an hour."""
        return due_schedule(self.store, name, **({"grid": self.hourly()} | policies))

    def behind(self, name: str = "billing", **policies: object) -> View:
        """Create a schedule of which five slots have passed while no worker ran."""
        return due_schedule(self.store, name, **({"grid": self.tens()} | policies))

    def tried(self, *, failures: int = 0, crashes: int = 0, **policies: object) -> Execution:
        """Create a schedule whose last slot waits to be tried again, now; return that row."""
        slot = self.ago(30)
        draft = draft_schedule(self.store, "billing", **({"grid": self.hourly()} | policies))
        draft = copy_with(draft, cursor=slot, starts=1)
        birth = started(draft, at=self.now)
        times = {"first_started_at": self.ago(29), "started_at": self.ago(29)}
        retry = row_of(
            View(birth.schedule),
            slot,
            state=State.SCHEDULED,
            due_at=self.ago(1),
            finished_at=self.ago(28),
            attempt=failures + crashes,
            failures=failures,
            crashes=crashes,
            **times,
        )
        assert self.store.create([Birth(birth.schedule, (*birth.rows, retry))]) == [True]
        return retry

    def under_way(
        self, worker: DrivenWorker, name: str = "billing", **policies: object
    ) -> Execution:
        """Let a worker have run a schedule since before its next row became due; return the run.

        The run was triggered 44 minutes ago and began 40 minutes ago; the row has been due
        for 30.
        """
        worker.beat()
        schedule = draft_schedule(self.store, name, **({"grid": self.hourly()} | policies))
        birth = started(schedule, at=schedule.created_at)
        manual = row_of(View(birth.schedule), self.ago(44), kind=Kind.MANUAL)
        assert self.store.create([Birth(birth.schedule, (*birth.rows, manual))]) == [True]
        [found] = self.store.candidates([manual.id]).value
        assert found.view is not None
        moment = PlanningTime(self.ago(40), TZDATA)
        claim = plan_claim(found.view.schedule, found.execution, found.view.rows, moment)
        session = worker.heartbeat.session
        [running] = self.store.claim([order_of(claim.plan)], session=session)
        assert running is not None
        worker.adopt(running, claim.plan.schedule)
        return running
