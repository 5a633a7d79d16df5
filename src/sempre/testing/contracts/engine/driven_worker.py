"""Workers driven by hand: the real engine, one step at a time, without threads and without waiting.

Whatever a step would wait for is announced before it waits. Jobs are not called: hands begin them
and end them as the contract says.
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
    """An executor that holds what it is given until it is told how it ends, or ends it at once.

    Attributes:
        holding: whether runs stay open.
        begun: what was begun, in order.
        runs: the latest run of each execution, by its id.
        asked: why each execution was asked to end; as in a thread, it goes on until it is ended.
        told: how far runs say they have come, by execution id.
    """

    stuck = 0

    def __init__(self, *, holding: bool = False) -> None:
        """Begin with nothing in hand."""
        self.holding = holding
        self.begun: list[Execution] = []
        self.runs: dict[str, Run] = {}
        self.asked: dict[str, str] = {}
        self.told: dict[str, Progress] = {}
        self._open: dict[int, tuple[Run, Callable[[Run, Outcome], None]]] = {}

    def start(self) -> None:
        """Nothing to get ready."""

    def submit(self, run: Run, done: Callable[[Run, Outcome], None]) -> None:
        """Begin a run; it succeeds at once unless runs are held."""
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
        """Let the run of a claim end; it has always taken a second."""
        run, done = self._open.pop(execution.fence)
        done(run, Outcome(how, result=result, error=error, seconds=1.0))

    def cancel(self, execution_id: str, *, reason: str) -> bool:
        """Note that a run is asked to end."""
        self.asked[execution_id] = reason
        return any(run.execution.id == execution_id for run, _ in self._open.values())

    def progress(self) -> Mapping[str, Progress]:
        """Return what was told of runs that are still open."""
        open_ids = {run.execution.id for run, _ in self._open.values()}
        return {each: told for each, told in self.told.items() if each in open_ids}

    def stop(self) -> None:
        """Let go of everything without a word."""
        self._open.clear()


class DrivenWorker(Worker):
    """A worker whose steps are taken by hand.

    Attributes:
        hands: its executor.
        told: everything that it told, in order.
    """

    def __init__(self, engine: Engine, spec: WorkerSpec, hands: Hands) -> None:
        """Be ready; nothing happens before the first step."""
        super().__init__(engine, spec, hands)
        self.hands = hands
        self.told: list[Event] = []
        engine.events.listen(self.told.append)

    def turn(self) -> list[Execution]:
        """Show life, begin what is due, record what has ended; return what was begun."""
        known = len(self.hands.begun)
        self.fetch_some()
        self._fetch_once()
        self.settle()
        return self.hands.begun[known:]

    def fetch_some(self) -> list[Execution]:
        """Show life, and look for work once; return what was begun."""
        known = len(self.hands.begun)
        self.beat()
        # Somebody who is woken before he waits does not wait, and looks the next time.
        self._fetch_once()
        return self.hands.begun[known:]

    def work_off(self) -> list[Execution]:
        """Take turns until one begins nothing; return all that was begun, in order."""
        known = len(self.hands.begun)
        for _ in range(MOST_TURNS):
            if not self.turn():
                return self.hands.begun[known:]
        raise AssertionError(f"{self.hands.begun[-3:]} and others are begun without end")

    def heal(self) -> None:
        """Show life and do the maintenance that is due."""
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
        """Let a run in hand end, and record it."""
        self.hands.end(execution, how, result=result, error=error)
        self.settle()

    def adopt(self, execution: Execution, schedule: Schedule | None) -> None:
        """Have in hand what was claimed under this session some time ago."""
        self._begin([self.spec.run(execution, schedule, self.engine.settings)])

    def heard(self, name: Happened) -> list[Event]:
        """Return what it told of one kind."""
        return [event for event in self.told if event.name is name]

    def _fetch_once(self) -> None:
        self.engine.bell.broker.wake()
        self.fetch(patience=0)


class StillClock:
    """A clock that is moved by hand; its now is the host's."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._host = SystemClock()
        self._seconds = 0.0

    def now(self) -> datetime:
        """Return the host's now."""
        return self._host.now()

    def elapsed(self) -> float:
        """Return the seconds by which it was moved."""
        return self._seconds

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class ForgetfulBroker(MemoryBroker):
    """A carrying broker that can lose its memory, be down, or take messages and deliver none.

    Attributes:
        is_down: it can do nothing.
        is_deaf: it keeps what it takes and delivers nothing.
        swallows: it keeps nothing of what it takes.
    """

    is_down = False
    is_deaf = False
    swallows = False

    def forget(self) -> None:
        """Lose every message, as a broker does that is started again."""
        self._kept.clear()

    def bodies(self, lane: str) -> list[str]:
        """Return what waits in a lane, due or not, and is reserved by nobody."""
        waiting = (kept.message for kept in self._kept.values() if not kept.receipt)
        return [message.body for message in waiting if message.lane == lane]

    def ready(self, lane: str) -> list[str]:
        """Return what waits in a lane and is due."""
        now = self._clock.elapsed()
        waiting = (kept for kept in self._kept.values() if not kept.receipt and kept.due <= now)
        return [kept.message.body for kept in waiting if kept.message.lane == lane]

    def priorities(self, lane: str) -> list[int]:
        """Return the priorities of the same messages."""
        waiting = (kept.message for kept in self._kept.values() if not kept.receipt)
        return [message.priority for message in waiting if message.lane == lane]

    def hurry(self) -> None:
        """Let everything that is delayed be due now."""
        for kept in self._kept.values():
            self._delay(kept, self._clock.elapsed())

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Take messages in, unless it is down."""
        self._check_up()
        handles = super().put(messages)
        if self.swallows:
            self.forget()
        return handles

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return what is due, unless it is down."""
        self._check_up()
        if self.is_deaf:
            return []
        return super().reserve(lanes, limit=limit, wait=wait)

    def _check_up(self) -> None:
        if self.is_down:
            raise BrokerUnavailable("the broker is down.")
