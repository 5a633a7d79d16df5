"""Workers driven by hand: the real engine, one step at a time, without threads and without waiting.

Every event that a step waits for is announced before the wait. Jobs are not called: `Hands`
begins and ends runs as the contract says.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sempre.brokers.memory import MemoryBroker
from sempre.clock import SystemClock
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.engine.core import Engine
from sempre.engine.events import Event, Happened
from sempre.engine.worker import Worker
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Delivery, Message
from sempre.ports.executor import Ended, Outcome, Progress, Run

__all__ = ["DrivenWorker", "ForgetfulBroker", "Hands", "StillClock"]

MOST_TURNS = 50


class Hands:
    """An executor that holds each run until the contract ends the run, or ends each run at once.

    Attributes:
        holding: whether runs stay open.
        begun: the executions that were begun, in order.
        runs: the latest run of each execution, by its id.
        asked: why each execution was asked to end; like a thread, a run goes on until `end`.
        told: the reported progress of runs, by execution id.
        logged: the log of runs, by fence.
    """

    stuck = 0

    def __init__(self, *, holding: bool = False) -> None:
        """Begin with nothing in hand."""
        self.holding = holding
        self.begun: list[Execution] = []
        self.runs: dict[str, Run] = {}
        self.asked: dict[str, str] = {}
        self.told: dict[str, Progress] = {}
        self.logged: dict[int, str] = {}
        self._open: dict[int, tuple[Run, Callable[[Run, Outcome], None]]] = {}

    def start(self) -> None:
        """Nothing to get ready."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run; the run succeeds at once unless runs are held."""
        self.begun.append(run.execution)
        self.runs[run.execution.id] = run
        self._open[run.execution.fence] = run, done
        if not self.holding:
            self.end(run.execution)

    def end(
        self,
        execution: Execution,
        how: Ended = Ended.SUCCEEDED,
        *,
        result: Json = None,
        error: str = "",
    ) -> None:
        """End the run of a claim; the recorded duration is always one second."""
        self.finish(execution, Outcome(how, result=result, error=error))

    def finish(self, execution: Execution, outcome: Outcome) -> None:
        """End the run of a claim with an outcome; the recorded duration is always one second."""
        run, done = self._open.pop(execution.fence)
        log = self.logged.pop(execution.fence, "")
        done(run, outcome._replace(seconds=1.0, log=log))

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Note that a run is asked to end."""
        self.asked[execution_id] = reason
        return any(run.execution.id == execution_id for run, _ in self._open.values())

    def progress(self) -> Mapping[str, Progress]:
        """Return the reported progress of runs that are still open."""
        open_ids = {run.execution.id for run, _ in self._open.values()}
        return {each: told for each, told in self.told.items() if each in open_ids}

    def logs(self) -> Mapping[int, str]:
        """Return the logs of runs that are still open."""
        return {fence: log for fence, log in self.logged.items() if fence in self._open}

    def stop(self) -> None:
        """Let go of everything without a word."""
        self._open.clear()


class DrivenWorker(Worker):
    """A worker whose steps are taken by hand.

    Attributes:
        hands: the executor of the worker.
        told: every event of the worker, in order.
    """

    def __init__(self, engine: Engine, spec: WorkerSpec, hands: Hands) -> None:
        """Be ready; nothing happens before the first step."""
        super().__init__(engine, spec, hands)
        self.hands = hands
        self.told: list[Event] = []
        engine.events.listen(self.told.append)

    def turn(self) -> list[Execution]:
        """Send a heartbeat, begin due work, record ended runs; return the executions begun."""
        known = len(self.hands.begun)
        self.fetch_some()
        self._fetch_once()
        self.settle()
        return self.hands.begun[known:]

    def fetch_some(self) -> list[Execution]:
        """Send a heartbeat and query for work once; return the executions begun."""
        known = len(self.hands.begun)
        self.beat()
        # A worker that is woken before the wait skips the wait, and queries at the next fetch.
        self._fetch_once()
        return self.hands.begun[known:]

    def work_off(self) -> list[Execution]:
        """Take turns until a turn begins nothing; return the executions begun, in order."""
        known = len(self.hands.begun)
        for _ in range(MOST_TURNS):
            if not self.turn():
                return self.hands.begun[known:]
        raise AssertionError(f"{self.hands.begun[-3:]} and others are begun without end")

    def heal(self) -> None:
        """Send a heartbeat and do the maintenance that is due."""
        self.beat()
        self.maintain()

    def end(
        self,
        execution: Execution,
        how: Ended = Ended.SUCCEEDED,
        *,
        result: Json = None,
        error: str = "",
    ) -> None:
        """End a run in hand and record the outcome."""
        self.finish(execution, Outcome(how, result=result, error=error))

    def finish(self, execution: Execution, outcome: Outcome) -> None:
        """End a run in hand with an outcome, and record the outcome."""
        self.hands.finish(execution, outcome)
        self.settle()

    def adopt(self, execution: Execution, schedule: Schedule | None) -> None:
        """Take in hand an execution that this session claimed some time ago."""
        self._begin([self.spec.run(execution, schedule, self.engine.settings)])

    def heard(self, name: Happened) -> list[Event]:
        """Return the worker's events of one kind."""
        return [event for event in self.told if event.name is name]

    def _fetch_once(self) -> None:
        self.engine.bell.broker.wake()
        self.fetch(patience=0)


class StillClock:
    """A steady clock that is moved by hand; `now` is the host's."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._host = SystemClock()
        self._seconds = 0.0

    def now(self) -> datetime:
        """Return the host's now."""
        return self._host.now()

    def elapsed(self) -> float:
        """Return the seconds by which the contract moved the clock."""
        return self._seconds

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class ForgetfulBroker(MemoryBroker):
    """A carrying broker that can lose its memory, be down, or take messages and deliver none.

    Attributes:
        is_down: calls fail.
        is_deaf: the broker keeps messages and delivers none.
        swallows: the broker accepts messages and drops them.
    """

    is_down = False
    is_deaf = False
    swallows = False

    def forget(self) -> None:
        """Lose every message, as a broker does that is started again."""
        self._kept.clear()

    def bodies(self, lane: str) -> list[str]:
        """Return the unreserved messages of a lane, due or not."""
        waiting = (kept.message for kept in self._kept.values() if not kept.receipt)
        return [message.body for message in waiting if message.lane == lane]

    def ready(self, lane: str) -> list[str]:
        """Return the unreserved messages of a lane that are due."""
        now = self._clock.elapsed()
        waiting = (kept for kept in self._kept.values() if not kept.receipt and kept.due <= now)
        return [kept.message.body for kept in waiting if kept.message.lane == lane]

    def priorities(self, lane: str) -> list[int]:
        """Return the priorities of the unreserved messages of a lane."""
        waiting = (kept.message for kept in self._kept.values() if not kept.receipt)
        return [message.priority for message in waiting if message.lane == lane]

    def hurry(self) -> None:
        """Make every delayed message due now."""
        for kept in self._kept.values():
            self._delay(kept, self._clock.elapsed())

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Accept messages, unless the broker is down."""
        self._check_up()
        handles = super().put(messages)
        if self.swallows:
            self.forget()
        return handles

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return due messages, unless the broker is down."""
        self._check_up()
        if self.is_deaf:
            return []
        return super().reserve(lanes, limit=limit, wait=wait)

    def _check_up(self) -> None:
        if self.is_down:
            raise BrokerUnavailable("the broker is down.")
