"""The book of slots: the result of every slot of every schedule, independent of the store.

Invariants 1, 2, 5 and 6: one next row at the right slot, one row per slot, a cursor that only goes
forward, and every slot up to the cursor decided exactly once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.grids.grid import following
from sempre.stores.memory.tables import Tables
from sempre.testing.simulation.stage import Broken

__all__ = ["ROW", "RowChange", "ScheduleChange", "SlotBook"]

TICK = timedelta(microseconds=1)
ROW, RANGE = "row", "range"
RowChange = tuple[str, Execution | None, Execution | None]
ScheduleChange = tuple[str, Schedule | None, Schedule | None]


class SlotBook:
    """Follows the slots as rows and schedules change.

    Attributes:
        running: ids of running executions, by schedule.
        decided: by schedule, whether a row or a range decided each slot up to the cursor.
        fates: by schedule, the latest version of the row of each slot.
    """

    def __init__(self, tables: Tables) -> None:
        """Begin with no schedules."""
        self._tables = tables
        self._occupied: defaultdict[str, dict[datetime, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._backfills: defaultdict[str, dict[datetime, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._untried: defaultdict[str, set[str]] = defaultdict(set)
        self._starts: defaultdict[str, int] = defaultdict(int)
        self.running: defaultdict[str, set[str]] = defaultdict(set)
        self.decided: defaultdict[str, dict[datetime, str]] = defaultdict(dict)
        self._regridded: set[str] = set()
        self._ran_ahead: defaultdict[str, set[datetime]] = defaultdict(set)
        self.fates: defaultdict[str, dict[datetime, Execution]] = defaultdict(dict)

    def note_row(self, identity: str, before: Execution | None, after: Execution | None) -> None:
        """Update the indexes; a purged row still counts for its slot."""
        if after is None:
            return
        schedule_id = after.schedule_id
        if schedule_id is None:
            return
        _mark(self._occupied[schedule_id][after.run_at], identity, holds=after.occupies_slot)
        if after.occupies_slot:
            self.fates[schedule_id][after.run_at] = after
        active = after.is_live or after.state is State.RUNNING
        backfills = after.kind is Kind.BACKFILL and active
        _mark(self._backfills[schedule_id][after.run_at], identity, holds=backfills)
        waits = after.is_untried and after.kind is Kind.SCHEDULED
        _mark(self._untried[schedule_id], identity, holds=waits)
        _mark(self.running[schedule_id], identity, holds=after.state is State.RUNNING)
        # A missed or skipped slot that an operator retries counts as no start of its schedule.
        had_started = before is not None and (before.first_started_at or before.retried_at)
        if after.kind is Kind.SCHEDULED and after.first_started_at and not had_started:
            self._starts[schedule_id] += 1

    def judge(
        self,
        rows: Sequence[RowChange],
        schedules: Sequence[ScheduleChange],
        ranges: Sequence[SlotRange],
        clock: tuple[datetime, datetime],
    ) -> None:
        """Check the invariants that the changes of one operation can break.

        Args:
            rows: changed executions, before and after.
            schedules: changed schedules, before and after.
            ranges: new ranges.
            clock: the current time of the store's clock, and the latest time of that clock.
        """
        _, latest = clock
        for identity, before, after in schedules:
            own = [each for each in ranges if each.schedule_id == identity]
            if before and after and before.definition.grid != after.definition.grid:
                self._regridded.add(identity)
            if after is not None and before is not None and before.cursor > after.cursor:
                self._judge_return(before, after, own, clock)
            elif after is not None:
                self._judge_cursor(before, after, own, latest)
        touched = {identity for identity, _, _ in schedules}
        for _, _, row in rows:
            if row is not None and row.schedule_id:
                self._judge_slot(row)
                touched.add(row.schedule_id)
        for identity in sorted(touched):
            schedule = self._tables.schedules.get(identity)
            if schedule is not None:
                self._judge_next_row(schedule, latest)
                self._judge_starts(schedule)

    def _judge_cursor(
        self,
        before: Schedule | None,
        after: Schedule,
        ranges: Sequence[SlotRange],
        latest: datetime,
    ) -> None:
        """5 and 6: the cursor goes forward, and each slot that it passes is decided once."""
        if after.cursor > latest:
            raise Broken(f"5: the cursor of {after.name} passed now: {after.cursor}")
        if before is None:
            return
        if after.revision - before.revision not in (0, 1):
            raise Broken(f"{after.name} went from revision {before.revision} to {after.revision}")
        if after.cursor > before.cursor:
            passed = before.definition.grid.between(before.cursor, after.cursor)
            self._decide(after, passed, ranges)

    def _judge_return(
        self,
        before: Schedule,
        after: Schedule,
        ranges: Sequence[SlotRange],
        clock: tuple[datetime, datetime],
    ) -> None:
        """5 and 6: a cursor goes back only from the future, and decisions up to now stay.

        A slot that ran meanwhile stays decided by its row; all other later slots are open again.
        """
        now, latest = clock
        if before.cursor <= now or after.cursor > latest:
            raise Broken(f"5: the cursor of {after.name} went back to {after.cursor}")
        decided = self.decided[after.id]
        for slot in [each for each in decided if each > after.cursor]:
            ran = (row.first_started_at is not None for row in self.of_slot(after.id, slot))
            if any(ran):
                self._ran_ahead[after.id].add(slot)
            else:
                del decided[slot]
        stored = [each for each in self._tables.ranges if each.schedule_id == after.id]
        for each in ranges:
            slots = [slot for slot in decided if each.first <= slot <= each.last]
            # A range does not say how many slots of an earlier grid lie before now.
            miscounted = len(slots) != each.count and after.id not in self._regridded
            if each.last > after.cursor or miscounted:
                raise Broken(f"6: {after.name} came back, and counts wrong slots in {each}")
        if any(each.last > after.cursor for each in stored):
            raise Broken(f"6: {after.name} came back, and slots to come count as passed")

    def _decide(
        self, schedule: Schedule, passed: Sequence[datetime], ranges: Sequence[SlotRange]
    ) -> None:
        decided, occupied = self.decided[schedule.id], self._occupied[schedule.id]
        for slot in passed:
            found = [ROW] * bool(occupied.get(slot))
            found += [RANGE for each in ranges if each.first <= slot <= each.last]
            ahead = slot in self._ran_ahead[schedule.id]
            if len(found) != 1 or (slot in decided and not ahead):
                told = f"{found or 'nothing'} decides it"
                raise Broken(f"6: the slot {slot} of {schedule.name} passed and {told}")
            decided[slot] = found[0]
            self._ran_ahead[schedule.id].discard(slot)
        counted = sum(decided[slot] == RANGE for slot in passed)
        if counted != sum(each.count for each in ranges):
            raise Broken(f"6: ranges of {schedule.name} count slots that it does not have")

    def _judge_slot(self, row: Execution) -> None:
        """2 and 6: a slot has one row, and the decision about a slot stays."""
        schedule_id = row.schedule_id or ""
        holders = self._occupied[schedule_id][row.run_at]
        if len(holders) > 1:
            raise Broken(f"2: the slot {row.run_at} of {row.snapshot.name} has rows {holders}")
        if len(self._backfills[schedule_id][row.run_at]) > 1:
            raise Broken(f"2: two backfills of {row.run_at} of {row.snapshot.name} are active")
        decided = self.decided[schedule_id].get(row.run_at)
        if decided is not None and (decided == ROW) != bool(holders):
            raise Broken(f"6: the slot {row.run_at} of {row.snapshot.name} was decided twice")

    def _judge_starts(self, schedule: Schedule) -> None:
        limit = schedule.definition.limit
        if schedule.starts != self._starts[schedule.id]:
            counted = self._starts[schedule.id]
            raise Broken(f"{schedule.name} counts {schedule.starts} starts; there were {counted}")
        edited = schedule.revision > 2  # noqa: PLR2004 - an edit may lower the limit
        if limit is not None and schedule.starts > limit and not edited:
            raise Broken(f"{schedule.name} started {schedule.starts} times; its limit is {limit}")

    def _judge_next_row(self, schedule: Schedule, latest: datetime) -> None:
        """1: a schedule has one next row at the first eligible slot, or no next row."""
        rows = self.next_rows(schedule)
        wanted = self.wanted_slot(schedule, {row.run_at for row in rows})
        found = [row.run_at for row in rows]
        if found != ([] if wanted is None else [wanted]):
            raise Broken(f"1: {schedule.name} has next rows {found}; it should have {wanted}")
        if schedule.next_run_at != wanted:
            raise Broken(f"1: {schedule.name} says {schedule.next_run_at}, not {wanted}")
        if rows and rows[0].due_at > latest:
            drift = rows[0].snapshot.drift_from(schedule.snapshot())
            if drift:
                raise Broken(f"1: the next row of {schedule.name} has drifted in {drift}")

    def next_rows(self, schedule: Schedule) -> list[Execution]:
        """Return the live rows of kind scheduled after the cursor that were never tried."""
        rows = (self._tables.executions.get(each) for each in self._untried[schedule.id])
        return [row for row in rows if row and row.run_at > schedule.cursor]

    def of_slot(self, schedule_id: str, run_at: datetime) -> list[Execution]:
        """Return the rows of a slot of kind scheduled that are not purged."""
        rows = (self._tables.executions.get(each) for each in self._occupied[schedule_id][run_at])
        return [row for row in rows if row is not None]

    def wanted_slot(self, schedule: Schedule, waiting: Iterable[datetime]) -> datetime | None:
        """Return the first eligible slot of the grid, or None if the schedule needs no next row."""
        declared, pause = schedule.definition, schedule.pause
        forever = pause is not None and pause.until is None
        ended = declared.limit is not None and schedule.starts >= declared.limit
        if not (schedule.started and declared.enabled) or schedule.deleted or forever or ended:
            return None
        start, resumes = schedule.cursor, pause.until if pause and pause.until else schedule.cursor
        if not declared.grid.relative:
            start = max(start, resumes - TICK)
        free, occupied = set(waiting), self._occupied[schedule.id]
        slot = following(declared.grid, start)
        while slot and (slot < resumes or (slot not in free and occupied.get(slot))):
            slot = following(declared.grid, slot)
        late = slot is not None and declared.until is not None and slot > declared.until
        return None if late else slot


def _mark(index: set[str], identity: str, *, holds: bool) -> None:
    if holds:
        index.add(identity)
    else:
        index.discard(identity)
