"""Small worlds, in which only what a test asks for goes wrong."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from sempre.app.declarations import Declarations
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Declared
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.config import Settings
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.engine.tickets import Ticket
from sempre.grids import Every
from sempre.ports.broker import Delivery, Message
from sempre.ports.executor import Ended
from sempre.testing.simulation import Scene, World
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.executors import Script
from sempre.testing.simulation.faults import Faults
from sempre.testing.simulation.stores import FaultyStore, Operation

QUICK = Script(0.01)
LONG = Script(30.0)
HANGING = Script(100.0, Ended.SUCCEEDED, obeys=False)


class SmallWorld(World):
    """One schedule on every full minute; the world begins half a minute before."""

    def __init__(
        self,
        *,
        carries: bool = True,
        workers: int = 1,
        hands: int = 4,
        settings: Settings | None = None,
    ) -> None:
        chosen = settings or Settings()
        scene = Scene(settings=chosen, carries=carries, workers=workers, hands=hands)
        super().__init__(Chance(1), scene)
        self.stage.faults = Faults()
        self.premises.script = lambda _run: QUICK

    def create(self, name: str = "bill", *, every: int = 60, **policies: object) -> StoredSchedule:
        definition = define(job="bill", grid=Every(every), **policies)
        Schedules(self.person.engine).create_many([Declared(name, definition)])
        return StoredSchedule(self.person.engine, name)

    def declare(self, *declared: Declared, release: int, owner: str | None = None) -> None:
        """Let code of a release start that declares schedules."""
        engine = self.person.engine
        declarations = Declarations()
        for each in declared:
            declarations.add_schedule(each)
        settings = replace(engine.settings, release=release, owner=owner)
        declarations.sync(replace(engine, settings=settings))

    def pass_for(self, seconds: float) -> None:
        self.stage.timeline.run_for(seconds)
        self.judge.check_remembered()

    def flood(self, queue: str) -> None:
        """Let a queue never be empty of tickets for rows that do not exist."""
        lane, reserve = self.person.engine.bell.lane(queue), self.exchange.inner.reserve
        stale = Message(lane, Ticket(self.store.uuid, "gone").to_text(), priority=0)

        def reserved(lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
            self.exchange.inner.put([stale] * limit)
            return reserve(lanes, limit=limit, wait=wait)

        self.exchange.inner.reserve = reserved  # type: ignore[method-assign]

    def edit_at_every_reading(self, handle: StoredSchedule) -> None:
        """Let a person edit a schedule whenever a worker has read a row of it that is due."""

        def hear(operation: Operation) -> None:
            self.judge.hear(operation)
            now = self.store.clock.now()
            is_due = any(row.is_live and row.is_due(now) for row in self.rows())
            if is_due and operation.name in ("candidates", "due"):
                handle.edit(priority=2000 + handle.row.revision)

        for worker in self.fleet.workers:
            cast("FaultyStore", worker.engine.store)._judge = hear  # noqa: SLF001 - to act there

    def pass_unanswered(self, seconds: float, *operations: str) -> None:
        """Let the answers of some operations of the store be lost for a while."""
        self.stage.unanswered = frozenset(operations)
        self.pass_for(seconds)
        self.stage.unanswered = frozenset()

    def rows(self, *states: State, kind: Kind = Kind.SCHEDULED) -> list[Execution]:
        rows = self.store.tables.executions.values()
        return [row for row in rows if row.kind is kind and (not states or row.state in states)]

    def starts(self) -> int:
        """Return how many runs have begun."""
        return len(self.effects.starts)
