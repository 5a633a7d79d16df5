"""Reads the records near a slot or an execution, by a bounded number of bounded queries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.explanation import Records
from sempre.domain.explanation.waits import WRITTEN_WITHIN, first_due_at, first_start_of
from sempre.domain.planning.plan import TICK
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind
from sempre.engine.core import Engine
from sempre.errors import SempreError, nearest
from sempre.ports.messages import (
    ActionQuery,
    Attempt,
    Candidate,
    ExecutionQuery,
    ScheduleQuery,
    View,
)

__all__ = ["RecordReader"]

MOMENT = timedelta(seconds=2)
ROWS_OF_SLOT = 20
ROWS_NEAR = 20
ROWS_MEANWHILE = 200
SLOTS_AFTER = 5
RANGES = 1000
ACTIONS = 500
HEALINGS = 100
# Work that ran for longer than this before a slot is not found among what ran meanwhile.
LONG_RUN = timedelta(hours=6)


class RecordReader:
    """Reads a store for one question."""

    def __init__(self, engine: Engine) -> None:
        """Read nothing yet."""
        self._engine = engine
        self._store = engine.store

    def schedule(self, name: str) -> Schedule | None:
        """Return the schedule of a name; None if there is none, or it is deleted."""
        view = self._engine.read_one(self._store.views([name]))
        return view.schedule if view else None

    def candidate(self, identity: str) -> Candidate | None:
        """Return an execution with its schedule, deleted or not; None if there is none."""
        return self._engine.read_one(self._store.candidates([identity]))

    def nearest(self, name: str) -> str:
        """Return a hint at names that are spelled alike."""
        query = ScheduleQuery(text=name[:3], limit=ACTIONS)
        page = self._engine.read(self._store.schedules(query))
        return nearest(name, [each.name for each in page.items])

    def of_slot(
        self,
        name: str,
        schedule: Schedule | None,
        instants: tuple[datetime, ...],
        wall: datetime | None,
    ) -> Records:
        """Return the records about the slot at one of these instants."""
        records = Records(
            name=name,
            now=self._engine.time.now(),
            asked=instants,
            asked_wall=wall,
            schedule=schedule,
            actions=self._actions(f"schedule:{name}"),
        )
        if schedule is None:
            return records
        rows = list(chain.from_iterable(self._at(schedule, each) for each in instants))
        return self._completed(replace(records, rows=rows), schedule, instants)

    def of_execution(self, row: Execution, schedule: Schedule | None) -> Records:
        """Return the records about one execution."""
        actions = self._actions(f"schedule:{row.snapshot.name}") if schedule else []
        if row.kind is Kind.ENQUEUED:
            actions += self._actions(f"job:{row.snapshot.job}", since=row.created_at - MOMENT)
        records = Records(
            name=row.snapshot.name,
            now=self._engine.time.now(),
            asked=(row.run_at,),
            schedule=schedule,
            rows=[row],
            actions=actions,
        )
        return self._completed(records, schedule, (row.run_at,))

    def _completed(
        self, records: Records, schedule: Schedule | None, instants: Sequence[datetime]
    ) -> Records:
        """Return records with all that lies near their rows."""
        now = self._engine.time.now()
        if schedule is not None:
            records = self._near(schedule, records, instants)
        attempts: dict[str, list[Attempt]] = {
            row.id: self._engine.read(self._store.attempts(row.id)) for row in records.rows
        }
        records = replace(records, attempts=attempts, now=now)
        about = [self._actions(f"execution:{row.id}") for row in records.rows]
        actions = [*records.actions, *chain.from_iterable(about)]
        actions += self._of_switches(records, schedule)
        records = replace(records, actions=[*actions, *self._of_healing(records)])
        sessions = self._engine.read(self._store.sessions())
        return replace(records, sessions=sessions, meanwhile=self._meanwhile(records))

    def _near(self, schedule: Schedule, records: Records, instants: Sequence[datetime]) -> Records:
        """Return records with rows, ranges and totals of a schedule near a slot."""
        nearby = self._nearby(schedule, min(instants), max(instants))
        names = {row.snapshot.name for row in (*records.rows, *nearby)} - {records.name}
        # The log has what was done under a former name under that name.
        former = chain.from_iterable(self._actions(f"schedule:{name}") for name in sorted(names))
        retention = schedule.definition.kept_for(self._engine.settings.retention)
        rollups = self._engine.read(self._store.rollups(schedule.id))
        ranges = self._engine.read(self._store.ranges(schedule.id, limit=RANGES))
        nearby += self._before_range(schedule, ranges, instants)
        return replace(
            records,
            nearby=list({row.id: row for row in nearby}.values()),
            ranges=ranges,
            actions=[*records.actions, *former],
            purged_days=frozenset(each.day for each in rollups),
            kept_since=self._engine.time.now() - retention,
        )

    def _at(self, schedule: Schedule, instant: datetime) -> list[Execution]:
        query = ExecutionQuery(
            schedule_id=schedule.id, since=instant, until=instant, limit=ROWS_OF_SLOT
        )
        return list(self._engine.read(self._store.executions(query)).items)

    def _nearby(self, schedule: Schedule, first: datetime, last: datetime) -> list[Execution]:
        """Return the executions of slots just before and just after, and what waits or runs."""
        before = ExecutionQuery(schedule_id=schedule.id, until=first - TICK, limit=ROWS_NEAR)
        after = ExecutionQuery(
            schedule_id=schedule.id,
            since=last + TICK,
            until=self._some_slots_after(schedule, last),
            limit=ROWS_NEAR,
        )
        found = [
            *self._engine.read(self._store.executions(before)).items,
            *self._engine.read(self._store.executions(after)).items,
            *self._live(schedule),
        ]
        return list({row.id: row for row in found}.values())

    def _before_range(
        self, schedule: Schedule, ranges: Iterable[SlotRange], instants: Sequence[datetime]
    ) -> list[Execution]:
        """Return the slots before the range of a slot: backfills may lie in between."""
        for passed in ranges:
            if any(passed.first <= each <= passed.last for each in instants):
                query = ExecutionQuery(
                    schedule_id=schedule.id,
                    kinds=frozenset({Kind.SCHEDULED}),
                    until=passed.first - TICK,
                    limit=ROWS_OF_SLOT,
                )
                return list(self._engine.read(self._store.executions(query)).items)
        return []

    def _live(self, schedule: Schedule) -> Iterable[Execution]:
        view: View | None = self._engine.read_one(self._store.views([schedule.name]))
        return view.rows[:ROWS_NEAR] if view and view.schedule.id == schedule.id else ()

    def _some_slots_after(self, schedule: Schedule, instant: datetime) -> datetime:
        grid = schedule.definition.grid
        try:
            slots = [] if grid.relative else grid.times(instant, SLOTS_AFTER)
        except SempreError:
            slots = []
        return slots[-1] if slots else instant + timedelta(days=1)

    def _actions(self, target: str, *, since: datetime | None = None) -> list[Action]:
        query = ActionQuery(target=target, since=since, limit=ACTIONS)
        return list(self._engine.read(self._store.actions(query)).items)

    def _of_switches(self, records: Records, schedule: Schedule | None) -> list[Action]:
        """Return what was done to the switches that may stop these executions."""
        rows = records.rows or records.nearby[:1]
        names = {"all"}
        for rules in (row.snapshot for row in rows):
            names |= {f"job:{rules.job}", f"queue:{rules.queue}"}
            names |= {f"tag:{tag}" for tag in rules.tags}
            names |= {rules.name.partition("/")[0]} if rules.name.startswith("pair:") else set()
        names |= {f"tag:{tag}" for tag in (schedule.definition.tags if schedule else ())}
        found = (self._actions(f"switch:{name}") for name in sorted(names))
        return list(chain.from_iterable(found))

    def _of_healing(self, records: Records) -> list[Action]:
        """Return the repairs of the queues of these executions, while the executions waited."""
        found: list[Action] = []
        for row in records.rows:
            start = first_start_of(records, row)
            query = ActionQuery(
                target=f"queue:{row.snapshot.queue}",
                verb="heal",
                since=first_due_at(records, row),
                until=start and start + WRITTEN_WITHIN,
                limit=HEALINGS,
            )
            found += self._engine.read(self._store.actions(query)).items
        return list({each.id: each for each in found}.values())

    def _meanwhile(self, records: Records) -> list[Execution]:
        """Return executions of any schedule that may have run while one of these was late."""
        late = [
            (due, start)
            for row in records.rows
            if (start := first_start_of(records, row)) is not None
            and start - (due := first_due_at(records, row)) > MOMENT
        ]
        if not late:
            return []
        begin, end = min(due for due, _ in late), max(start for _, start in late)
        query = ExecutionQuery(since=begin - LONG_RUN, until=end, limit=ROWS_MEANWHILE)
        return list(self._engine.read(self._store.executions(query)).items)

    def deleted(self, name: str) -> Schedule | None:
        """Return a deleted schedule, by the id in the entry of its deletion, from its last row."""
        for action in self._actions(f"schedule:{name}"):
            after = action.after if isinstance(action.after, dict) else {}
            if action.verb == "delete" and isinstance(after.get("id"), str):
                query = ExecutionQuery(schedule_id=str(after["id"]), limit=1)
                rows = self._engine.read(self._store.executions(query)).items
                found = self.candidate(rows[0].id) if rows else None
                return found.view.schedule if found and found.view else None
        return None
