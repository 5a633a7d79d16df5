"""Workers on a store whose clock jumps an hour ahead for twenty seconds, and comes back."""

from collections import Counter
from datetime import timedelta

from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Declared
from sempre.brokers.store import StoreBroker
from sempre.config import Settings
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events, Happened
from sempre.engine.worker_spec import WorkerSpec
from sempre.grids import Every
from sempre.ports.executor import Task
from sempre.ports.messages import ExecutionQuery
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, Hands
from sempre.testing.contracts.store.builders import enqueued
from tests.integration.sql.side_by_side import VirtualClock

__all__ = ["Jump"]

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
TZDATA = "2026.1"


class Jump:
    """A store with two workers and a schedule every two seconds; one of them has a long run."""

    def __init__(self, store: Store, shown: VirtualClock) -> None:
        """Begin; the store shows what `shown` does, the workers have steady clocks."""
        self.store = store
        self.shown = shown
        self._steady = VirtualClock()
        self.slow, self.quick = self._worker(holding=True, jobs="mail"), self._worker()
        definition = define(job="bill", grid=Every(2))
        Schedules(self.quick.engine).create_many([Declared("billing", definition)])
        enqueued(store)

    def _worker(self, *, holding: bool = False, jobs: str = "bill") -> DrivenWorker:
        settings, events = Settings(watchdog_interval=timedelta(seconds=60)), Events()
        clock, broker = self._steady, StoreBroker()
        bell = Bell(self.store, broker, horizon=settings.horizon, clock=clock, events=events)
        engine = Engine(self.store, bell, settings, clock, events, TZDATA)
        spec = WorkerSpec({jobs: Task(jobs, print)}, frozenset({"default"}), 8)
        return DrivenWorker(engine, spec, Hands(holding=holding))

    def run_for(self, seconds: int) -> None:
        """Let time pass; the workers take a turn each second, and see to maintenance."""
        for _ in range(seconds):
            self._steady.at += SECOND
            self.shown.at += SECOND
            for worker in (self.slow, self.quick):
                worker.turn()
                worker.maintain()

    def judge(self) -> None:
        """Let the clock jump and come back; all goes on, and nothing runs twice."""
        self.run_for(20)
        self.shown.at += HOUR
        self.run_for(20)
        self.shown.at -= HOUR
        self.run_for(5)
        since = self.shown.at
        self.run_for(60)

        wanted = Every(2).between(since, self.shown.at - 2 * SECOND)
        ran = [row.run_at for row in self._rows() if row.state is State.SUCCEEDED]
        missing = [slot for slot in wanted if slot not in ran]
        assert not missing, f"{len(missing)} of {len(wanted)} slots did not run"
        starts = Counter(row.run_at for row in self.quick.hands.begun)
        assert max(starts.values()) == 1, "a slot ran twice"
        self._judge_sessions()

    def _judge_sessions(self) -> None:
        [long] = self.slow.hands.begun
        for worker in (self.slow, self.quick):
            assert worker.heard(Happened.SESSION_LOST) == []
            assert worker.heard(Happened.RESCUED) == []
        assert self.slow.hands.asked == {}, "a run was ended"
        self.slow.end(long)
        [settled] = self.store.candidates([long.id]).value
        assert (settled.execution.state, settled.execution.crashes) == (State.SUCCEEDED, 0)
        [came] = self._told(Happened.CAME_BACK)
        assert came["schedule"] == "billing"
        sessions = self.store.sessions().value
        assert not any(each.is_leased_beyond(self.shown.at + HOUR / 2) for each in sessions)

    def _told(self, name: Happened) -> list[dict[str, object]]:
        heard = [event for worker in (self.slow, self.quick) for event in worker.heard(name)]
        return [dict(event.facts) for event in heard]

    def _rows(self) -> list[Execution]:
        query = ExecutionQuery(kinds=frozenset({Kind.SCHEDULED}), limit=10_000)
        return list(self.store.executions(query).value.items)
