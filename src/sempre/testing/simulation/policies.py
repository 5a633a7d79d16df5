"""The policies as a judge sees them: catch-up, overlap, deadline, disable, pause and backfill.

The judge computes each policy from the grid and the rows, without calls to planning. A decision of
planning is judged by the instant of the decision, which the row itself carries.
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.stores.memory.tables import Tables
from sempre.testing.simulation.slots import RowChange, ScheduleChange, SlotBook
from sempre.testing.simulation.stage import Broken

__all__ = ["PolicyBook"]

TICK = timedelta(microseconds=1)
DECIDED = (State.RUNNING, State.SKIPPED, State.MISSED)
# Between two readings a process only guesses the store's time.
GUESSED = timedelta(seconds=1)
MOST_ENDED = 1000


class PolicyBook:
    """Judges the decisions of each operation."""

    def __init__(self, tables: Tables, book: SlotBook) -> None:
        """Begin with no schedules."""
        self._tables = tables
        self._book = book
        self._live: defaultdict[str, set[str]] = defaultdict(set)
        self._ended: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=MOST_ENDED))
        self._tries: defaultdict[str, deque[Execution]] = defaultdict(
            lambda: deque(maxlen=MOST_ENDED)
        )
        self._tried_before: dict[str, list[Execution]] = {}

    def judge(
        self,
        rows: Sequence[RowChange],
        schedules: Sequence[ScheduleChange],
        latest: datetime,
        *,
        doubt: bool,
    ) -> None:
        """Check the decisions of one operation; without overlap if the clock is in doubt."""
        for _, before, after in rows:
            self._note(before, after)
        for _, old, new in schedules:
            if old is not None and new is not None:
                self._judge_schedule(old, new, rows)
        for _, before, after in rows:
            if after is not None:
                self._judge_row(before, after, doubt=doubt)
        touched = {identity for identity, _, _ in schedules}
        touched |= {row.schedule_id for _, _, row in rows if row and row.schedule_id}
        for identity in sorted(touched):
            self._judge_stopped(self._tables.schedules.get(identity), latest)

    def _judge_schedule(self, before: Schedule, after: Schedule, rows: Sequence[RowChange]) -> None:
        if before.cursor != after.cursor:
            self._judge_move(before, after, rows)
        if before.declared and before.declared != after.declared:
            _judge_release(before, after)

    def _judge_move(self, before: Schedule, after: Schedule, rows: Sequence[RowChange]) -> None:
        """5: a cursor moves by the decision of its next row or by a real change, and no further."""
        # A cursor that goes back is judged in `slots.py`: its slots are open again.
        if _is_really_changed(before, after) or after.cursor < before.cursor:
            return
        decided = [
            row
            for _, old, row in rows
            if old and row and row.schedule_id == after.id and _is_decided(old, row)
        ]
        moving = [row for row in decided if row.run_at > before.cursor]
        if len(moving) != 1:
            count = len(moving)
            raise Broken(f"5: the cursor of {after.name} moved, and {count} slots were decided")
        if after.broken or before.broken:
            return
        wanted = _cursors_after(before, moving[0], list(self._tables.rows_of(after.id)))
        if after.cursor not in wanted:
            told = " or ".join(map(str, wanted))
            raise Broken(f"5: the cursor of {after.name} went to {after.cursor}, not to {told}")

    def _judge_row(self, before: Execution | None, after: Execution, *, doubt: bool) -> None:
        if before is None and after.kind is Kind.BACKFILL:
            self._judge_backfill(after)
        if before is not None and _is_decided(before, after):
            _judge_deadline(before, after)
            if not doubt:
                self._judge_overlap(before, after)

    def _note(self, before: Execution | None, after: Execution | None) -> None:
        row = after or before
        if row is None or row.schedule_id is None:
            return
        if before is None:
            self._tried_before[row.id] = list(self._tries[row.schedule_id])
        live = self._live[row.schedule_id]
        if after is not None and after.is_live:
            live.add(row.id)
        else:
            live.discard(row.id)
        if before and before.state is State.RUNNING and row.state is not State.RUNNING:
            self._ended[row.schedule_id].append(row.id)
            self._tries[row.schedule_id].append(row)

    def _judge_stopped(self, schedule: Schedule | None, latest: datetime) -> None:
        """9: no row of a disabled or paused schedule waits, except the row to resume with."""
        if schedule is None or schedule.deleted:
            return
        pause = schedule.pause
        if schedule.definition.enabled and not (pause and pause.holds(latest + GUESSED)):
            return
        resumes = pause.until if pause and schedule.definition.enabled else None
        for identity in sorted(self._live[schedule.id]):
            row = self._tables.executions[identity]
            to_come = row.is_untried and row.occupies_slot and resumes and row.run_at >= resumes
            if row.kind is not Kind.MANUAL and not to_come:
                told = f"{row.kind} {identity} of {row.run_at} waits"
                raise Broken(f"9: {schedule.name} is stopped, and {told}")

    def _judge_backfill(self, row: Execution) -> None:
        """Judge a new backfill: its slot has neither succeeded nor waits nor runs."""
        rows = self._book.of_slot(row.schedule_id or "", row.run_at)
        for other in rows:
            if other.is_live or other.state in (State.RUNNING, State.SUCCEEDED):
                told = f"{other.id}, which is {other.state}"
                raise Broken(f"2: a backfill of {row.run_at} was made beside {told}")

    def _judge_overlap(self, before: Execution, after: Execution) -> None:
        """Judge overlap at the row's due time; a caught-up or retried row is never skipped."""
        skipped = after.state is State.SKIPPED and after.reason == Reason.OVERLAP
        if before.snapshot.overlap != "skip" or not (skipped or after.state is State.RUNNING):
            return
        on_time = before.created_at <= before.due_at
        if skipped and not on_time:
            raise Broken(f"{after.id} was made up for, and yet skipped because of overlap")
        others = [row.id for row in self._ran_at(before) if row.snapshot.overlap != "allow"]
        # After a clock was set back, a row may be due during an attempt that ended long ago.
        known = self._tried_before.get(before.id, [])
        tries = [row for row in self._tried_at(before) if not any(row is each for each in known)]
        others += [row.id for row in tries if row.snapshot.overlap != "allow"]
        if not skipped and on_time and others:
            raise Broken(f"{after.id} started, though {others} ran when it was due")
        # A run that ended close to the due time may have been read while it ran.
        about = [*self._ran_at(before, about=True), *self._tried_at(before, about=True)]
        if skipped and not about:
            raise Broken(f"{after.id} was skipped, though nothing ran when it was due")

    def _ran_at(self, due: Execution, *, about: bool = False) -> Iterable[Execution]:
        schedule_id = due.schedule_id or ""
        known = [*sorted(self._book.running[schedule_id]), *self._ended[schedule_id]]
        rows = (self._tables.executions.get(each) for each in dict.fromkeys(known))
        for row in rows:
            if row is None or row.id == due.id or row.kind is Kind.BACKFILL:
                continue
            began = row.started_at is not None and row.started_at <= due.due_at
            goes_on = row.state is State.RUNNING or row.finished_at is None
            if began and (goes_on or _ends_after(row, due.due_at, about=about)):
                yield row

    def _tried_at(self, due: Execution, *, about: bool = False) -> Iterable[Execution]:
        """Yield the ended attempts of other rows that ran when a row was due."""
        for row in self._tries[due.schedule_id or ""]:
            began = row.started_at is not None and row.started_at <= due.due_at
            others = row.id != due.id and row.kind is not Kind.BACKFILL
            if began and others and _ends_after(row, due.due_at, about=about):
                yield row


def _ends_after(row: Execution, instant: datetime, *, about: bool) -> bool:
    ended = row.finished_at or instant
    return ended > (instant - GUESSED if about else instant)


def _is_decided(before: Execution, after: Execution) -> bool:
    first = before.is_untried and before.kind is Kind.SCHEDULED
    return first and before.state is not after.state and after.state in DECIDED


def _judge_deadline(before: Execution, after: Execution) -> None:
    deadline, decided_at = before.snapshot.deadline, _decided_at(after)
    past = deadline is not None and decided_at > before.due_at + deadline
    if after.state is State.MISSED and not past:
        raise Broken(f"{after.id}, due at {after.due_at}, was missed before its deadline")
    if after.state is State.RUNNING and past:
        raise Broken(f"{after.id}, due at {after.due_at}, started after its deadline")


def _judge_release(before: Schedule, after: Schedule) -> None:
    """Judge a declaration: the declaration of a higher release stays."""
    one, other = (json.loads(each.declared)["release"] for each in (before, after))
    if other < one:
        raise Broken(f"release {other} declared {after.name}, though {one} had done so")


def _is_really_changed(before: Schedule, after: Schedule) -> bool:
    names = ("grid", "until", "limit", "enabled")
    one, other = before.definition, after.definition
    declared = any(getattr(one, name) != getattr(other, name) for name in names)
    return declared or before.pause != after.pause or before.deleted != after.deleted


def _cursors_after(schedule: Schedule, row: Execution, rows: Sequence[Execution]) -> list[datetime]:
    """Return the cursors that the rules of catch-up allow after a next row has been decided.

    Jitter may make the last old slot due too late to be dropped.
    """
    declared, now = schedule.definition, _decided_at(row)
    tolerance = declared.tolerance
    late = now - _free_since(row, rows, tolerance) > tolerance
    missed = row.state is State.MISSED and declared.deadline is not None
    newest = min(now, declared.until + TICK) if declared.until else now
    slots = declared.grid.between(row.run_at, newest - TICK) if newest > row.run_at + TICK else []
    old = [slot for slot in slots if now - slot > tolerance]
    dropped: list[datetime] = []
    if missed and declared.deadline:
        dropped += [slot for slot in slots if slot + declared.deadline < now]
    elif late and not declared.catch_up:
        dropped += old
    if late and declared.catch_up:
        within, most = declared.catch_up_within, declared.catch_up_max
        dropped += [slot for slot in old if within is not None and slot < now - within]
        dropped += old[: len(slots) - most] if most is not None and most < len(slots) else []
    ends = [row.run_at, *sorted(set(dropped))]
    return ends[-2:] if declared.jitter else ends[-1:]


def _free_since(row: Execution, rows: Sequence[Execution], tolerance: timedelta) -> datetime:
    """Return since when no run that a row waits for has delayed the row."""
    since = row.due_at
    if row.snapshot.overlap != "wait" or row.state is not State.RUNNING:
        return since
    runs = [each for each in rows if each.id != row.id and each.state is not State.RUNNING]
    if any(each.ran_at(row.created_at) for each in runs):
        since = max(since, row.created_at)
    for each in sorted(runs, key=lambda each: each.started_at or since):
        is_next = each.started_at is not None and each.started_at - since <= tolerance
        if is_next and each.finished_at is not None and each.finished_at > since:
            since = each.finished_at
    return since


def _decided_at(row: Execution) -> datetime:
    at = row.started_at if row.state is State.RUNNING else row.finished_at
    return at or row.due_at
