"""History of the memory store: queries and maintenance passes."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.schedule import AHEAD, Schedule
from sempre.domain.states import Kind, State
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.domain.values import copy_with
from sempre.ports.messages import ExecutionQuery, Page, Pass, ScheduleQuery, Waiting
from sempre.ports.page_key import PageKey
from sempre.stores.memory.tables import Tables

__all__ = [
    "executions",
    "finish_pass",
    "following",
    "is_suspect",
    "maintenance",
    "needs_repair",
    "schedules",
    "waiting",
]


def executions(tables: Tables, query: ExecutionQuery) -> Page[Execution]:
    """Return a page of executions, newest slot first."""
    rows = [row for row in tables.executions.values() if _is_asked_for(row, query)]
    rows.sort(key=_key, reverse=True)
    after = PageKey.read(query.after) if query.after else None
    rest = [row for row in rows if after is None or _key(row) < after]
    page = rest[: query.limit]
    more = len(rest) > query.limit
    return Page(tuple(map(tables.leased, page)), str(_key(page[-1])) if more else "")


def waiting(
    tables: Tables, queues: frozenset[str] | None, until: datetime, after: str, limit: int
) -> Page[Waiting]:
    """Return a page of live executions that are due by an instant and not held, by id."""
    rows = (row for row in tables.unended.values() if row.is_live and not row.held_by)
    near = (row for row in rows if row.due_at <= until and row.id > after)
    asked = (row for row in near if queues is None or row.snapshot.queue in queues)
    rest = sorted(asked, key=lambda row: row.id)
    page = rest[:limit]
    return Page(tuple(map(Waiting.of, page)), page[-1].id if len(rest) > limit else "")


def schedules(tables: Tables, query: ScheduleQuery) -> Page[Schedule]:
    """Return a page of schedules, by name."""
    found = [each for each in tables.schedules.values() if _is_listed(each, query)]
    found.sort(key=lambda schedule: schedule.name)
    rest = [schedule for schedule in found if schedule.name > query.after]
    page = rest[: query.limit]
    return Page(tuple(page), page[-1].name if len(rest) > query.limit else "")


def maintenance(tables: Tables, now: datetime) -> Pass:
    """Return the maintenance pass; in a new store, a pass is due at once."""
    return tables.maintenance or Pass(due_at=now)


def needs_repair(tables: Tables, schedule: Schedule, tzdata: str, now: datetime) -> bool:
    """Return whether the next row may be missing or of older tzdata, or the schedule ahead."""
    if schedule.is_ahead(now) and _has_given_up(tables, schedule, now + AHEAD):
        return True
    if schedule.audit != "by next row":
        return schedule.audit == "needs repair"
    rows = (row for row in tables.rows_of(schedule.id) if row.waits_for_slot)
    stamps = [row.tzdata for row in rows if row.run_at == schedule.next_run_at]
    return not stamps or sortable_tzdata(stamps[0]) < sortable_tzdata(tzdata)


def _has_given_up(tables: Tables, schedule: Schedule, after: datetime) -> bool:
    """Return whether a schedule has ranges, or skipped or missed rows, after an instant."""
    own = (each for each in tables.ranges if each.schedule_id == schedule.id)
    if any(each.last > after for each in own):
        return True
    rows = (row for row in tables.rows_of(schedule.id) if row.kind is Kind.SCHEDULED)
    given_up = (row for row in rows if row.state in (State.SKIPPED, State.MISSED))
    return any(row.ended_at and row.ended_at > after for row in given_up)


def following(tables: Tables, after: str) -> list[Schedule]:
    """Return the schedules after an id, in order of id."""
    ids = sorted(each for each in tables.schedules if each > after)
    found = (tables.schedules[each] for each in ids)
    return [schedule for schedule in found if not schedule.deleted]


def is_suspect(tables: Tables, schedule: Schedule, now: datetime) -> bool:
    """Return whether a schedule is broken, ahead, or has other next rows than expected."""
    if schedule.broken or schedule.is_ahead(now):
        return True
    if not schedule.started:
        return schedule.definition.enabled and not schedule.ended
    rows = (row for row in tables.rows_of(schedule.id) if row.waits_for_slot)
    found = [(row.run_at, row.snapshot.revision) for row in rows if row.run_at > schedule.cursor]
    if schedule.wants_next_row and not schedule.ended:
        return found != [(schedule.next_run_at, schedule.revision)]
    return bool(found) or schedule.next_run_at is not None


def finish_pass(
    tables: Tables,
    holder: str,
    report: Mapping[str, Json],
    due_in: timedelta | None,
    now: datetime,
) -> None:
    """Record what a pass did, if this holder was the last to begin one."""
    known = maintenance(tables, now)
    if known.holder == holder:
        due_at = known.due_at if due_in is None else now + due_in
        done = copy_with(known, due_at=due_at, finished_at=now, report=dict(report))
        tables.maintenance = done


def _is_asked_for(row: Execution, query: ExecutionQuery) -> bool:
    return (
        (query.schedule_id is None or row.schedule_id == query.schedule_id)
        and (query.job is None or row.snapshot.job == query.job)
        and (not query.states or row.state in query.states)
        and (not query.kinds or row.kind in query.kinds)
        and (query.since is None or row.run_at >= query.since)
        and (query.until is None or row.run_at <= query.until)
    )


def _is_listed(schedule: Schedule, query: ScheduleQuery) -> bool:
    declared = schedule.definition
    return (
        not schedule.deleted
        and (query.tag is None or query.tag in declared.tags)
        and (query.job is None or declared.job == query.job)
        and query.text.casefold() in schedule.name.casefold()
    )


def _key(row: Execution) -> PageKey:
    return PageKey(row.run_at, row.id)
