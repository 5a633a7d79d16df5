"""One schedule of the store as users operate it: each verb is one commit, reconcile included."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Unpack

from sempre.app.executions.catalog import past_rows
from sempre.app.options import Duration, EditOptions
from sempre.app.schedules.edits import edited_definition
from sempre.domain.action import Act
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution
from sempre.domain.names import check_note
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    plan_backfill,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_pause,
    plan_rename,
    plan_resume,
    plan_skip,
    plan_start,
    plan_trigger,
    plan_unskip,
)
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.steps import first_slot_from
from sempre.domain.schedule import Schedule
from sempre.engine.audits import Audits
from sempre.engine.core import CarryOut, Engine, born_by
from sempre.engine.repair_plan import plan_repair
from sempre.errors import Contended, NotFound, Refused, nearest
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.relative_instants import read_in_zone, read_point
from sempre.ports.executor import Task
from sempre.ports.messages import ExecutionQuery, Order, ScheduleQuery, View

__all__ = ["UNKNOWN", "StoredSchedule"]

PAGE = 500
RANGES = 10_000
UNKNOWN: Mapping[str, Task] = MappingProxyType({})
"""The jobs that a process without the user's code knows: none."""


class StoredSchedule:
    """One schedule of the store, by name. Each property reads the store; nothing is cached."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        *,
        actor: str = "",
        tasks: Mapping[str, Task] = UNKNOWN,
        carry_out: CarryOut | None = None,
    ) -> None:
        """Name a schedule; each verb raises NotFound if it does not exist.

        An edit that does not fit the schedule's job is refused if the job is among the tasks.
        Plans are carried out by the engine, unless `carry_out` previews or checks them.
        """
        self._engine = engine
        self._carry_out = carry_out or engine.carry_out
        self._tasks = tasks
        self._actor = actor
        self.name = name

    def __repr__(self) -> str:
        """Show the name; the store is not read."""
        return f"<StoredSchedule {self.name}>"

    # Reading

    @property
    def row(self) -> Schedule:
        """The row of the schedule as it is now; NotFound if there is none of that name."""
        return self._view().schedule

    @property
    def definition(self) -> Definition:
        """The definition, as it was declared or last edited."""
        return self.row.definition

    @property
    def started(self) -> bool:
        """Whether the schedule has had its first execution."""
        return self.row.started

    @property
    def is_anchor(self) -> bool:
        """Whether the grid is anchor + N * interval."""
        return isinstance(self.definition.grid, Every)

    @property
    def is_cron(self) -> bool:
        """Whether the grid is a cron grid."""
        return isinstance(self.definition.grid, Cron)

    @property
    def zone(self) -> str:
        """The name of the time zone; UTC for a grid that has none."""
        return str(getattr(self.definition.grid, "timezone", "UTC"))

    @property
    def last_audit_at(self) -> datetime | None:
        """When a pass of the watchdog last audited the schedule; None if none has. See `stale`."""
        last = self._engine.read(self._engine.store.last_pass())
        return Audits(last.report).last(self.row)

    def next_run_at(self, *, after: datetime | str | None = None) -> datetime | None:
        """Return the first slot after an instant, by default after now; None if there is none."""
        return next(iter(self.next_run_at_times(after=after, count=1)), None)

    def next_run_at_times(
        self, *, after: datetime | str | None = None, count: int = 5
    ) -> list[datetime]:
        """Return the next slots after an instant, by default after now.

        Slots of a relative grid are counted from the cursor.
        """
        grid, instant = self.definition.grid, self._instant(after)
        if not grid.relative:
            return grid.times(instant, count)
        first = first_slot_from(grid, self.row.cursor, instant + TICK)
        return [first, *grid.times(first, count - 1)] if first and count > 0 else []

    def executions(self, *, limit: int = 50) -> list[Execution]:
        """Return the latest executions, newest slot first."""
        query = ExecutionQuery(schedule_id=self.row.id, limit=limit)
        return list(self._engine.read(self._engine.store.executions(query)).items)

    # Verbs

    def start(self) -> Execution | None:
        """Create the first execution; None if the schedule has started before, or is disabled."""
        return self._first(self._perform(plan_start))

    def create_next_execution(self) -> Execution | None:
        """Create the next execution; None if a live one exists."""
        if not self.started:
            return self.start()
        return self._first(self._perform(self._reconciled))

    def reconcile(self) -> bool:
        """Bring the schedule to its invariants; False if it already met them."""
        return self._perform(self._reconciled) is not None

    def enable(self, *, why: str = "") -> bool:
        """Let the schedule run, from its next slot on; False if it was enabled."""
        return self._act("enable", plan_enable, why=why) is not None

    def disable(self, *, why: str = "") -> bool:
        """Stop the schedule: from now on only triggered runs start; False if it was disabled."""
        return self._act("disable", plan_disable, why=why) is not None

    def pause(self, *, until: datetime | str | Duration | None = None, note: str = "") -> bool:
        """Stop the schedule until an instant, for a length of time, or until `resume`.

        Slots of the pause are not caught up. False if the same pause is in force.
        """
        end = self._until(until)
        return self._act("pause", plan_pause, why=note, until=end, note=note) is not None

    def resume(self, *, why: str = "") -> bool:
        """End a pause; False if none is in force."""
        return self._act("resume", plan_resume, why=why) is not None

    def skip(self, run_at: datetime | str | None = None, *, why: str = "") -> datetime:
        """Skip one future slot, by default the next; return the slot."""
        slot = self._slot(run_at)
        self._act("skip", plan_skip, why=why, run_at=slot)
        return slot

    def unskip(self, run_at: datetime | str, *, why: str = "") -> bool:
        """Take back the skip of a future slot; False if the slot is not skipped."""
        slot = self._read("run_at", run_at)
        return self._act("unskip", plan_unskip, why=why, run_at=slot) is not None

    def trigger(self, *, why: str = "") -> Execution:
        """Run the job now, besides its slots, also if the schedule is disabled or paused."""
        created = self._first(self._act("run", _trigger, why=why))
        assert created is not None  # noqa: S101 - a trigger always creates one
        return created

    def backfill(
        self,
        start: datetime | str,
        end: datetime | str,
        *,
        assume_not_run: bool = False,
        why: str = "",
    ) -> list[Execution]:
        """Run past slots from start to end that did not succeed; return the new executions.

        Raises:
            Refused: some slots lie before retention, where no record is left of a run, and
                `assume_not_run` is not given; or the schedule is disabled or paused.
        """
        stretch = {"start": self._read("start", start), "end": self._read("end", end)}
        retention = self._engine.settings.retention
        rows = past_rows(self._engine, self.row.id, stretch["start"])
        ranges = self._engine.read(self._engine.store.ranges(self.row.id, limit=RANGES))
        known = {"ranges": ranges, "retention": retention, "assume_not_run": assume_not_run}
        order = self._act("backfill", plan_backfill, why=why, more=rows, **known, **stretch)
        return born_by(order, self._engine.time.now()) if order else []

    def edit(self, **options: Unpack[EditOptions]) -> bool:
        """Change fields of the definition; due executions keep their snapshot.

            schedule.edit(cron="30 2 * * *", timezone="Europe/Rome", args={"region": "eu"})

        Arguments are checked against the signature of the job, if this process knows the job.
        False if nothing changes.
        """
        changes: dict[str, Any] = dict(options)
        return self._edit(changes, why=changes.pop("why", ""))

    def move_to(self, grid: Grid, *, why: str = "") -> bool:
        """Put the schedule on another grid, from now on; False if it is on that grid."""
        return self._edit({"grid": grid}, why=why)

    def redefine(self, definition: Definition, *, decides: bool = True, why: str = "") -> bool:
        """Replace the whole definition; False if it is equal. For `decides` see `plan_edit`."""
        plan = partial(plan_edit, to=definition, decides=decides)
        return self._act("edit", plan, why=why) is not None

    def rename(self, to: str, *, why: str = "") -> "StoredSchedule":
        """Give the schedule another name; return it under that name.

        Raises:
            Refused: the name is taken, or code declares the schedule.
        """
        try:
            self._act("rename", plan_rename, why=why, to=to)
        except Contended:
            if self._engine.read(self._engine.store.views([to])):
                raise Refused(f'there is a schedule "{to}" already; choose another name.') from None
            raise
        return StoredSchedule(self._engine, to, actor=self._actor, tasks=self._tasks)

    def delete(self, *, why: str = "") -> None:
        """Delete the schedule; due executions still run. Code that declares it creates it again."""
        self._act("delete", plan_delete, why=why)

    # How

    def _reconciled(
        self, schedule: Schedule, rows: Iterable[Execution], moment: PlanningTime, *, actor: str
    ) -> Plan:
        return plan_repair(self._engine, schedule, rows, moment, actor=actor)

    def _edit(self, options: Mapping[str, object], *, why: str) -> bool:
        def plan(
            schedule: Schedule, rows: Iterable[Execution], moment: PlanningTime, *, actor: str
        ) -> Plan:
            task = self._tasks.get(schedule.definition.job)
            to = edited_definition(schedule, options, self._engine.settings, task)
            decides = "enabled" in options
            return plan_edit(schedule, rows, moment, to=to, decides=decides, actor=actor)

        return self._act("edit", plan, why=why) is not None

    def _act(
        self,
        name: str,
        verb: Callable[..., Plan],
        *,
        why: str = "",
        more: Iterable[Execution] = (),
        **options: object,
    ) -> Order | None:
        """Carry out a verb of an operator, and log it in the same commit."""
        act = Act(name, f"schedule:{self.name}", self._actor, check_note("why", why))
        return self._perform(verb, act=act, more=more, **options)

    def _perform(
        self,
        verb: Callable[..., Plan],
        *,
        act: Act | None = None,
        more: Iterable[Execution] = (),
        **options: object,
    ) -> Order | None:
        extra = tuple(more)

        def plan() -> Plan:
            view = self._view()
            rows = {row.id: row for row in (*extra, *view.rows)}.values()
            moment = self._engine.moment()
            return verb(view.schedule, rows, moment, actor=self._actor, **options)

        return self._carry_out(plan, act=act)

    def _view(self) -> View:
        view = self._engine.read_one(self._engine.store.views([self.name]))
        if view is not None:
            return view
        raise NotFound("schedule", self.name, hint=self._nearest())

    def _nearest(self) -> str:
        """Return a hint at names spelled alike, among the first and those with equal letters."""
        queries = ScheduleQuery(limit=PAGE), ScheduleQuery(text=self.name[:3], limit=PAGE)
        pages = [self._engine.store.schedules(query).value for query in queries]
        return nearest(self.name, sorted({each.name for page in pages for each in page.items}))

    def _first(self, order: Order | None) -> Execution | None:
        born = born_by(order, self._engine.time.now()) if order else []
        return born[0] if born else None

    def _instant(self, instant: datetime | str | None) -> datetime:
        return self._engine.time.now() if instant is None else self._read("after", instant)

    def _read(self, field: str, instant: datetime | str) -> datetime:
        """Return an instant; one without a zone is in the time zone of the application."""
        return read_in_zone(field, instant, self._engine.settings.timezone)

    def _until(self, until: datetime | str | Duration | None) -> datetime | None:
        """Return the end of a pause: an instant as given, or a length of time from now."""
        if until is None:
            return None
        zone = self._engine.settings.timezone
        return read_point("until", until, now=self._engine.present, timezone=zone)

    def _slot(self, run_at: datetime | str | None) -> datetime:
        if run_at is not None:
            return self._read("run_at", run_at)
        slot = self.row.next_run_at
        if slot is None:
            raise NotFound("next slot of", self.name)
        return slot


def _trigger(schedule: Schedule, _rows: object, moment: PlanningTime, *, actor: str) -> Plan:
    return plan_trigger(schedule, moment, actor=actor)
