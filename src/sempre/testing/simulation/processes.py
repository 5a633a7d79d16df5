"""Worker processes: the real engine on simulated time, its four loops called by the timeline."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Event, Events, Happened
from sempre.engine.worker import Worker
from sempre.engine.worker_spec import WorkerSpec
from sempre.errors import StoreError
from sempre.ports.executor import Executor, Run, Task
from sempre.testing.simulation.brokers import Exchange, FaultyBroker
from sempre.testing.simulation.effects import Effects
from sempre.testing.simulation.executors import Script, ScriptedExecutor
from sempre.testing.simulation.judge import Judge
from sempre.testing.simulation.stage import Broken, Killed, Program, WouldWait
from sempre.testing.simulation.stores import FaultyStore, WatchedStore
from sempre.testing.simulation.timeline import Actor

if TYPE_CHECKING:
    from sempre.ports.store import Store

__all__ = ["Client", "Premises", "SteppedWorker", "WorkerProcess"]

REST = 1.0
MOST_SPINS = 100
# Versions of the time zone data, which differ between processes; all zones have equal rules.
ZONES = ("2026.1", "2026.1", "2025.2")
DEFECTS = (Happened.INTERNAL_ERROR, Happened.FAULTY, Happened.UNKNOWN_GRID)


class Premises:
    """The parts that all processes share: the store, the broker, the judge and the log of effects.

    Attributes:
        peace: whether faults are off.
        script: returns the script of a run.
    """

    def __init__(
        self, store: WatchedStore, exchange: Exchange, judge: Judge, effects: Effects
    ) -> None:
        """Gather the shared parts."""
        self.store = store
        self.exchange = exchange
        self.judge = judge
        self.effects = effects
        self.peace = False
        self.script: Callable[[Run], Script] = lambda _run: Script()

    def decide(self, run: Run) -> Script:
        """Return the script of a run, drawn by the current `script`."""
        return self.script(run)


class Client(Program):
    """A process that uses the store and the broker and runs no jobs."""

    def __init__(self, name: str, premises: Premises, *, like: Program) -> None:
        """Connect; `like` is a program on the same stage."""
        super().__init__(name, like.stage)
        self.premises = premises
        self.engine = self._compose()

    def attempt(self, step: Callable[[], float | None], rest: float | None = None) -> float | None:
        """Run a step; return its rest, or `rest` if the store failed or this process died."""
        try:
            return step()
        except Killed:
            if not self.is_dead:
                raise
        except StoreError:
            self.fail()
        return rest

    @property
    def others_operations(self) -> int:
        """Number of operations of the store that other processes have carried out so far."""
        return self.premises.judge.operations - self.operations

    def wake(self) -> None:
        """Do nothing: a client has no fetcher to wake."""

    def _compose(self) -> Engine:
        premises, settings = self.premises, self.stage.settings
        store = cast("Store", FaultyStore(premises.store, self, premises.judge.hear))
        self.broker = FaultyBroker(
            premises.exchange, self, acknowledged=premises.judge.hear_ticket, woken=self.wake
        )
        events = Events()
        events.listen(self._hear)
        bell = Bell(store, self.broker, horizon=settings.horizon, clock=self.clock, events=events)
        return Engine(store, bell, settings, self.clock, events, self.stage.chance.choice(ZONES))

    def _hear(self, event: Event) -> None:
        self.stage.trace.note(self.name, _told(event))
        if event.name is Happened.SESSION_LOST:
            self.premises.effects.expose(self)
        if event.name in DEFECTS:
            self.premises.judge.remember(f"{self.name} told of {_told(event)}")


class SteppedWorker(Worker):
    """A worker whose loops are stepped from outside."""

    def call(self, name: str) -> None:
        """Note that a loop was called."""
        self._called_loops = {*getattr(self, "_called_loops", ()), name}

    def takes_call(self, name: str) -> bool:
        """Return whether a loop was called, and clear the call."""
        called: set[str] = getattr(self, "_called_loops", set())
        self._called_loops = called - {name}
        return name in called

    @property
    def has_finished_runs(self) -> bool:
        """Whether finished runs wait to be settled."""
        return not self._ends.is_empty


class WorkerProcess(Client):
    """A worker and its loops, from its start to its death."""

    def __init__(
        self,
        name: str,
        premises: Premises,
        *,
        like: Program,
        tasks: Mapping[str, Task],
        hands: int,
    ) -> None:
        """Start a worker."""
        super().__init__(name, premises, like=like)
        chance = self.stage.chance
        self.executor = ScriptedExecutor(
            self,
            premises.effects,
            script=premises.decide,
            landed=self._land,
        )
        spec = WorkerSpec(tasks, frozenset({"default", "slow"}), hands)
        self.worker = SteppedWorker(self.engine, spec, cast("Executor", self.executor))
        # Some workers prefetch even one slot, as all do on a server where many slots come at once.
        if hands in (1, 8):
            self.worker.fetcher.store.prefetch.few = 1
        steps = {
            "heartbeat": self._beat,
            "fetcher": self._fetch,
            "settler": self._settle,
            "maintenance": self._maintain,
        }
        self.loops = {
            loop: Actor(f"{name} {loop}", self._guarded(step), self) for loop, step in steps.items()
        }
        self._is_stopping = False
        self._waits_for_hand = False
        self._spins = 0
        self._spun_at = (-1, 0, 0)
        for actor in self.loops.values():
            self.stage.timeline.call(actor, chance.uniform(0, 0.1))

    def wake(self) -> None:
        """End the wait of the fetcher."""
        self.stage.timeline.call(self.loops["fetcher"])

    def die(self) -> None:
        """Die without ending the session."""
        self.premises.effects.expose(self)
        super().die()

    def retire(self) -> None:
        """Stop on request: give back unfinished runs, then end the session."""
        self.premises.effects.expose(self)
        self._is_stopping = True
        self.attempt(lambda: self.worker.stop(drain=0))
        self.is_dead = True

    # The loops

    def _guarded(self, step: Callable[[], float | None]) -> Callable[[], float | None]:
        def rested() -> float | None:
            rest = self.attempt(step, REST)
            return None if rest is None else self.clock.true_seconds(rest)

        return rested

    def _beat(self) -> float:
        rest = self.worker.beat()
        self._pass_calls_on()
        return rest

    def _fetch(self) -> float | None:
        if self._is_stopping:
            return None
        self.has_seen_fault = False
        self.broker.waits = None
        try:
            rest = self.worker.fetch(patience=0)
        except WouldWait as waiting:
            rest = waiting.seconds
        except StoreError:
            self.broker.unfinished.clear()
            raise
        self._pass_calls_on()
        is_full = not self.worker.capacity.is_hungry
        if is_full or self.has_seen_fault or self.worker.heartbeat.is_lost:
            # An early message stays reserved until faults end, or the broker delivers it again.
            self.broker.unfinished.clear()
        self.broker.check_finished()
        self._waits_for_hand = is_full
        if is_full:
            return REST
        rest = self._checked_for_spinning(max(rest, self.broker.waits or 0.0))
        if not self.has_seen_fault:
            # The wait for a message is still to come, and a waiting fetcher listens.
            self.worker.fetcher.tickets.tests.listened(until=self.clock.elapsed() + rest)
        return rest

    def _settle(self) -> float | None:
        rest = self.worker.settle()
        self._pass_calls_on()
        return rest if self.worker.has_finished_runs else None

    def _maintain(self) -> float | None:
        return None if self._is_stopping else self.worker.maintain()

    def _land(self) -> None:
        """Wake the fetcher if the fetcher waited for the hand that is free now."""
        self._pass_calls_on()
        if self._waits_for_hand:
            self.wake()

    def _pass_calls_on(self) -> None:
        if self.worker.takes_call("maintenance"):
            self.stage.timeline.call(self.loops["maintenance"])
        if self.worker.has_finished_runs:
            self.stage.timeline.call(self.loops["settler"])

    def _checked_for_spinning(self, rest: float) -> float:
        """Raise if the fetcher repeats its step many times without a wait, start or decision."""
        judge = self.premises.judge
        decided = sum(map(len, judge.book.decided.values()))
        at = self.stage.time.now, len(judge.starts) + decided, self.broker.received
        self._spins = self._spins + 1 if at == self._spun_at else 0
        self._spun_at = at
        if self._spins > MOST_SPINS:
            raise Broken(f"{self.name} looks for work without a rest")
        return rest


def _told(event: Event) -> str:
    execution = event.facts.get("execution")
    told = {key: value for key, value in event.facts.items() if key != "execution" and value}
    shown = " ".join(f"{key}={str(value)[:60]}" for key, value in told.items())
    if execution is None:
        return f"{event.name} {shown}"
    name = f"{execution.snapshot.name}@{execution.run_at:%H:%M:%S}#{execution.fence}"
    return f"{event.name} {name} {execution.kind} {execution.id[-4:]} {shown}"
