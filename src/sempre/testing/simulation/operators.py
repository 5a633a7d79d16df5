"""People and deploys: random operations on random schedules at random moments."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from sempre.app.declarations import Declarations
from sempre.app.executions.bulk_verbs import discard_all, retry_all
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.creation import Declared
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.limits import Concurrency, Limit, Rate
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import LIVE, RETRIABLE, Kind, State
from sempre.engine.ids import new_id
from sempre.errors import Contended, InvalidInput, NotFound, Refused
from sempre.grids.grid import Grid
from sempre.ports.messages import ExecutionQuery, Switch, UniqueKey, Work
from sempre.testing.simulation.definitions import JOBS, draw_definition, draw_edit, draw_grid
from sempre.testing.simulation.processes import Client
from sempre.testing.simulation.stage import Broken

__all__ = ["Operator"]

EXPECTED = (Refused, NotFound, Contended, InvalidInput)
UNIQUE = (
    UniqueKey("once while it waits", "live"),
    UniqueKey("once while it waits or runs"),
    UniqueKey("once in half a minute", "period", timedelta(seconds=30)),
)
LIMITS: tuple[tuple[Limit, ...], ...] = (
    (),
    (),
    (Concurrency(1, tag="smtp"),),
    (Concurrency(1), Rate("3/m")),
)
SWITCHES = (*(f"job:{job}" for job in JOBS), "queue:slow", "all")


class Operator:
    """A person who operates schedules from a separate process."""

    def __init__(self, client: Client, names: tuple[str, ...], grid: Grid | None = None) -> None:
        """Operate schedules of these names, all on `grid` if given."""
        self._grid = grid
        self._client = client
        self._chance = client.stage.chance.apart()
        self._names = names
        self._releases: list[dict[str, Declared]] = []

    # Operations

    def operate(self) -> None:
        """Carry out one random operation on one random schedule."""
        verb = self._chance.choice((*_VERBS, *_FREQUENT))
        self._try(verb.strip("_"), lambda: getattr(self, verb)(self._any()))

    def enqueue(self) -> None:
        """Enqueue work without a schedule, sometimes with a unique key."""
        self._try("enqueue", self._enqueue)

    def deploy(self) -> None:
        """Start code that declares other schedules, or changes declared schedules."""
        self._try("deploy", self._deploy)

    def turn_switch(self) -> None:
        """Turn a kill switch off, or on again."""
        target = self._chance.choice(SWITCHES)
        mode = self._chance.choice(("reject", "hold", "hold"))
        off = self._chance.happens(0.6)
        switch = Switch(target, target, "hold" if mode == "hold" else "reject")
        self._try("switch", lambda: self._client.engine.store.switch(switch, off=off))

    def create_all(self) -> None:
        """Create every schedule at the beginning of the world."""
        wanted = [Declared(name, self._definition()) for name in self._names]
        self._releases.append({each.name: each for each in wanted})
        self._try("create", lambda: Schedules(self._client.engine).create_many(wanted, release=0))

    def free_all(self) -> None:
        """Turn every switch on again, as operators do after an incident."""
        for target in SWITCHES:
            self._client.engine.store.switch(Switch(target, target), off=False)

    # How each operation is carried out

    def _try(self, name: str, verb: Callable[[], object]) -> None:
        trace = self._client.stage.trace
        trace.note(self._client.name, name)
        trace.count("operations")

        def attempt() -> None:
            try:
                verb()
            except EXPECTED as error:
                trace.note(self._client.name, f"{name}: {str(error)[:70]}")

        self._client.attempt(attempt)
        self._client.is_dead = False

    def _any(self) -> StoredSchedule:
        return StoredSchedule(self._client.engine, self._chance.choice(self._names), actor="ann")

    def _definition(self) -> Definition:
        stage = self._client.stage
        now, tolerance = stage.store_clock.now(), stage.settings.tolerance
        definition = draw_definition(self._chance, now, tolerance)
        return definition if self._grid is None else replace(definition, grid=self._grid)

    def _enqueue(self) -> None:
        engine = self._client.engine
        now = engine.store.last_pass().now
        due_at = now + timedelta(seconds=self._chance.choice((0, 0, 1, 30)))
        job, limits = self._chance.choice(JOBS), self._chance.choice(LIMITS)
        unique = self._chance.choice(UNIQUE) if self._chance.happens(0.5) else None
        row = Execution(
            id=new_id(now),
            kind=Kind.ENQUEUED,
            run_at=due_at,
            due_at=due_at,
            snapshot=Snapshot(name=job, job=job, on_unknown="rerun", limits=limits),
            state=State.PENDING if engine.bell.carries else State.SCHEDULED,
            created_at=now,
        )
        [receipt] = engine.store.enqueue([Work(row, unique)])
        if receipt.created:
            engine.bell.ring([row], now)

    def _deploy(self) -> None:
        """Sync the declarations of the next release, or of an earlier release: a rollback."""
        release = self._chance.randrange(len(self._releases))
        if self._chance.happens(0.7):
            name = self._chance.choice(self._names)
            changed = {name: Declared(name, self._definition())}
            release = len(self._releases)
            self._releases.append({**self._releases[-1], **changed})
        declarations = Declarations()
        for each in self._releases[release].values():
            declarations.add_schedule(each)
        engine = self._client.engine
        declarations.sync(replace(engine, settings=replace(engine.settings, release=release)))

    def _edit(self, schedule: StoredSchedule) -> None:
        changes = draw_edit(self._chance, self._client.stage.store_clock.now())
        schedule.edit(**changes)  # type: ignore[arg-type]  # drawn from valid values

    def _move(self, schedule: StoredSchedule) -> None:
        schedule.move_to(self._grid or draw_grid(self._chance))

    def _pause(self, schedule: StoredSchedule) -> None:
        schedule.pause(until=self._chance.choice((None, 30, 300)), note="lunch")

    def _resume(self, schedule: StoredSchedule) -> None:
        schedule.resume()

    def _disable(self, schedule: StoredSchedule) -> None:
        schedule.disable()

    def _enable(self, schedule: StoredSchedule) -> None:
        schedule.enable()

    def _skip(self, schedule: StoredSchedule) -> None:
        following = schedule.next_run_at_times(count=3)
        schedule.skip(self._chance.choice((None, *following)))
        if self._chance.happens(0.5):
            self._unskip(schedule)

    def _unskip(self, schedule: StoredSchedule) -> None:
        skipped = self._skipped(schedule.name)
        slot = self._chance.choice(skipped or schedule.next_run_at_times(count=3))
        alone = self._client.others_operations
        try:
            schedule.unskip(slot)
        except Contended as error:
            if self._client.others_operations == alone:
                message = f"{schedule.name}: an unskip failed, and nobody stood in its way"
                raise Broken(message) from error
            raise
        if self._client.others_operations == alone and slot in self._skipped(schedule.name):
            raise Broken(f"{schedule.name}: {slot} is skipped, though it was put back")

    def _skipped(self, name: str) -> list[datetime]:
        """Return the future slots that an operator has skipped."""
        tables, now = self._client.premises.store.tables, self._client.stage.store_clock.now()
        schedule = tables.named(name)
        rows = tables.rows_of(schedule.id) if schedule else ()
        skipped = (row.run_at for row in rows if row.state is State.SKIPPED and row.occupies_slot)
        return sorted(slot for slot in skipped if slot > now)

    def _trigger(self, schedule: StoredSchedule) -> None:
        schedule.trigger()

    def _backfill(self, schedule: StoredSchedule) -> None:
        now = self._client.stage.store_clock.now()
        schedule.backfill(now - timedelta(seconds=self._chance.choice((20, 60))), now)

    def _delete(self, schedule: StoredSchedule) -> None:
        schedule.delete()

    def _create(self, schedule: StoredSchedule) -> None:
        wanted = [Declared(schedule.name, self._definition())]
        Schedules(self._client.engine).create_many(wanted)

    def _reconcile(self, schedule: StoredSchedule) -> None:
        schedule.reconcile()

    def _cancel(self, _schedule: StoredSchedule) -> None:
        store = self._client.engine.store
        page = store.executions(ExecutionQuery(states=LIVE | {State.RUNNING}, limit=10)).value
        if page.items:
            store.cancel([self._chance.choice(page.items).id], actor="ann")

    def _retry(self, _schedule: StoredSchedule) -> None:
        """Retry an execution that ended without success, or discard its failure."""
        engine = self._client.engine
        page = engine.store.executions(ExecutionQuery(states=RETRIABLE, limit=20)).value
        if page.items:
            verb = discard_all if self._chance.happens(0.2) else retry_all
            ids = [self._chance.choice(page.items).id]
            for answer in verb(engine, ids, actor="ann", why="by hand"):
                self._client.stage.trace.note(self._client.name, answer.message[:70])

    def _rename(self, schedule: StoredSchedule) -> None:
        schedule.rename(self._chance.choice(self._names))


_VERBS = tuple(
    f"_{verb}"
    for verb in (
        "edit",
        "move",
        "pause",
        "resume",
        "disable",
        "enable",
        "skip",
        "unskip",
        "trigger",
        "backfill",
        "delete",
        "create",
        "reconcile",
        "cancel",
        "retry",
        "rename",
    )
)
_FREQUENT = ("_edit", "_create", "_enable", "_resume", "_trigger", "_trigger", "_retry")
