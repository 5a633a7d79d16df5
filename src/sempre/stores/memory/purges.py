"""Purges of the memory store: old executions go, their counts stay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sempre.domain.execution import Execution
from sempre.domain.limits import LONGEST_PERIOD
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Rollup
from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged
from sempre.stores.memory.keys import forget_key
from sempre.stores.memory.tables import Tables

__all__ = ["is_concerned", "purge", "purge_ranges", "roll_up"]

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
Floors = Mapping[str, datetime]


def purge(tables: Tables, asked: Purge, now: datetime) -> Purged:
    """Examine the next ended executions; delete those that are not kept."""
    start = PageKey.read(asked.after) if asked.after else PageKey(FIRST, "")
    page = _page(tables, asked, start)
    more = len(page) == asked.limit
    end = _key(page[-1]) if more and page else PageKey(asked.before, "")
    mine = [row for row in page if is_concerned(tables.schedules.get(row.schedule_id or ""), asked)]
    ids = {row.schedule_id for row in mine if row.schedule_id}
    floors = {each: _floor(tables, each, asked.keep) for each in ids}
    old = [row for row in mine if _is_old(tables, row, floors, now)]
    if asked.count_only:
        return Purged(len(old), str(end), more)
    pushed = _pushed_out(tables, floors, start.run_at, now)[: asked.limit]
    if len(pushed) == asked.limit:
        # The page waits: its executions lead to those that were pushed out.
        return Purged(_delete(tables, pushed), asked.after, more=True)
    count = _delete(tables, [*pushed, *old])
    if isinstance(asked.retention, str):
        _purge_orphans(tables, asked.before, asked.limit)
        _purge_sessions(tables, min(asked.before, now), asked.limit)
        _purge_starts(tables, min(asked.before, now - LONGEST_PERIOD))
    return Purged(count, str(end), more)


def is_concerned(schedule: Schedule | None, asked: Purge) -> bool:
    """Return whether a purge is for executions of a schedule, or of none."""
    own = schedule.definition.retention if schedule else None
    return asked.retention in ("any", own or "setting")


def _page(tables: Tables, asked: Purge, start: PageKey) -> list[Execution]:
    """Return the next ended executions, by their end."""
    ended = (row for row in tables.executions.values() if row.ended_at)
    rows = [row for row in ended if start < _key(row) < PageKey(asked.before, "")]
    return sorted(rows, key=_key)[: asked.limit]


def _key(row: Execution) -> PageKey:
    return PageKey(row.ended_at or row.run_at, row.id)


def _floor(tables: Tables, schedule_id: str, keep: int | None) -> datetime:
    """Return the end of the oldest execution that a schedule keeps whatever its age."""
    schedule = tables.schedules.get(schedule_id)
    if schedule is None or schedule.deleted:
        return LAST
    count = schedule.definition.keep if keep is None else keep
    ends = (row.finished_at for row in tables.rows_of(schedule_id))
    newest = sorted((end for end in ends if end), reverse=True)[:count]
    if not count:
        return LAST
    return newest[-1] if len(newest) == count else FIRST


def _is_old(tables: Tables, row: Execution, floors: Floors, now: datetime) -> bool:
    """Return whether an ended execution is not kept, and its slot is in the past."""
    schedule = tables.schedules.get(row.schedule_id or "")
    if row.run_at > now or (schedule and row.occupies_slot and row.run_at > schedule.cursor):
        return False
    floor = floors.get(row.schedule_id or "", LAST)
    return row.ended_at is not None and (row.finished_at is None or row.finished_at < floor)


def _pushed_out(tables: Tables, floors: Floors, before: datetime, now: datetime) -> list[Execution]:
    """Return executions that were kept when an earlier purge examined them, oldest first."""
    rows = (row for each in floors for row in tables.rows_of(each))
    known = (row for row in rows if row.finished_at and row.finished_at < before)
    return sorted((row for row in known if _is_old(tables, row, floors, now)), key=_key)


def _delete(tables: Tables, rows: Sequence[Execution]) -> int:
    """Delete executions, and keep their counts; return how many."""
    for row in rows:
        roll_up(tables, row)
        del tables.executions[row.id]
        tables.attempts.pop(row.id, None)
        tables.cancelled.pop(row.id, None)
        tables.reports.pop(row.id, None)
        tables.run_logs.pop(row.id, None)
        forget_key(tables, row.id)
        if row.schedule_id is not None:
            tables.of_schedule[row.schedule_id].discard(row.id)
    return len(rows)


def roll_up(tables: Tables, row: Execution) -> None:
    """Count an execution among those of its day that are deleted."""
    if row.schedule_id is None:
        return
    day = row.run_at.date().isoformat()
    none = Rollup(row.schedule_id, day, row.state, count=0, kind=row.kind)
    known = tables.rollups.get(none.key, none)
    took = 0.0
    if row.started_at and row.finished_at:
        took = (row.finished_at - row.started_at).total_seconds()
    counts = {"count": known.count + 1, "seconds": known.seconds + took}
    tables.rollups[none.key] = replace(known, **counts)  # type: ignore[arg-type]


def purge_ranges(tables: Tables, before: datetime, limit: int) -> int:
    """Delete ranges of slots whose last slot lies before an instant, oldest first."""
    old = (each for each in tables.ranges if each.last < before)
    gone = {id(each) for each in sorted(old, key=lambda each: each.last)[:limit]}
    tables.ranges[:] = [each for each in tables.ranges if id(each) not in gone]
    return len(gone)


def _purge_orphans(tables: Tables, before: datetime, limit: int) -> None:
    """Delete late attempts of purged executions: no execution leads to these attempts."""
    kept = [each for each in tables.orphans if each in tables.attempts.get(each.execution_id, ())]
    old = sorted((each for each in kept if each.finished_at < before), key=lambda e: e.finished_at)
    for each in old[:limit]:
        tables.attempts[each.execution_id].remove(each)
        kept.remove(each)
    tables.orphans = kept


def _purge_starts(tables: Tables, before: datetime) -> None:
    """Delete starts under limits that count no more."""
    for key, starts in list(tables.limit_starts.items()):
        if not any(start >= before for start in starts):
            del tables.limit_starts[key], tables.limit_periods[key]


def _purge_sessions(tables: Tables, before: datetime, limit: int) -> None:
    """Delete sessions whose lease expired, such as sessions of crashed workers."""
    leases = ((each.leased_until, each.id) for each in tables.sessions.values())
    old = sorted((until, identity) for until, identity in leases if until and until < before)
    for _, identity in old[:limit]:
        del tables.sessions[identity]
