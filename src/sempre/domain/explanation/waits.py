"""Waits: why an execution started after it was due, or still waits, as far as records show."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.explanation.causes import Cause, Code, Fact
from sempre.domain.explanation.operators import MOMENT, SwitchPeriod, switch_periods
from sempre.domain.explanation.records import Records
from sempre.domain.limit_keys import PARKED, limits_of
from sempre.domain.planning.slots import GRID_ERRORS, jittered
from sempre.domain.states import Kind
from sempre.domain.switch import Switch
from sempre.errors import SempreError

__all__ = [
    "LATE",
    "WRITTEN_WITHIN",
    "causes_of_wait",
    "first_due_at",
    "first_start_of",
    "runs_at",
    "switches_for",
]

LATE = timedelta(seconds=2)
"""A start within this time after the due time counts as on time."""
HEALING = {
    "queue lost": Code.QUEUE_LOST,
    "ticket lost": Code.TICKET_LOST,
    "unannounced": Code.UNANNOUNCED,
}
"""The causes of entries of the log with the verb heal that explain a wait."""
MOST_NAMED = 3
WRITTEN_WITHIN = timedelta(seconds=20)
"""How long after a repair its entry in the log of actions may be written."""


def first_start_of(records: Records, row: Execution) -> datetime | None:
    """Return when an execution first started; None if it never did."""
    attempts = records.attempts.get(row.id, ())
    starts = [each.started_at for each in attempts if not each.late]
    return row.first_started_at or min(starts, default=None)


def first_due_at(records: Records, row: Execution) -> datetime:
    """Return when an execution could first start, by its slot and its creation.

    The due time in the row moves with every retry, and when a limit lets the execution go.
    """
    has_moved = bool(records.attempts.get(row.id)) and row.attempt > 1
    is_moved = has_moved or row.retried_at is not None or row.snapshot.limits
    due = _planned_due(row) if is_moved else row.due_at
    return max(due, row.created_at) if row.kind is not Kind.SCHEDULED else due


def _planned_due(row: Execution) -> datetime:
    """Return when a slot was first due, as its row was created."""
    rules = row.snapshot
    if not rules.jitter or rules.grid is None or row.kind is not Kind.SCHEDULED:
        return row.run_at
    try:
        start = jittered(rules.name, rules.grid, rules.jitter, row.run_at)
    except (*GRID_ERRORS, SempreError):
        return row.run_at
    return start if start > row.created_at else row.run_at


def causes_of_wait(records: Records, row: Execution, end: datetime) -> list[Cause]:
    """Return why an execution did not start between the time it was due and an instant.

    Empty if it started on time. The last cause says so if the records do not tell.
    """
    due = first_due_at(records, row)
    begin = max(due, row.created_at)
    if end - begin <= LATE:
        return []
    found = [
        *_held_by_switches(records, row, begin, end),
        *_held_by_limit(row, begin, end),
        *_runs_before(records, row, begin, end),
        *_healed(records, row, due, end),
    ]
    if not _explains(found, end):
        found += _of_workers(records, row, begin, end)
    if not found:
        length = end - begin
        found = [Cause(Code.LATE_NOT_TOLD, None, {"length": length, "started": end})]
    return sorted(found, key=lambda cause: cause.at or end)


def runs_at(records: Records, row: Execution, instant: datetime) -> list[Execution]:
    """Return other executions of the schedule that ran at an instant."""
    others = [other for other in records.nearby if other.id != row.id]
    return [other for other in others if _ran(other, instant, instant)]


def switches_for(records: Records, row: Execution) -> list[SwitchPeriod]:
    """Return the times in which a switch was off that stops an execution."""
    schedule = records.schedule
    tags = schedule.definition.tags if schedule else ()
    return [
        each
        for each in switch_periods(records.actions)
        if Switch(each.name, each.name).stops(row, tags)
    ]


def _explains(found: list[Cause], end: datetime) -> bool:
    """Return whether a wait that ends about when the execution started is known."""
    ends = [cause.facts.get("until") for cause in found]
    is_near = any(isinstance(each, datetime) and each >= end - 10 * MOMENT for each in ends)
    return is_near or any(cause.code in HEALING.values() for cause in found)


def _held_by_switches(
    records: Records, row: Execution, begin: datetime, end: datetime
) -> Iterator[Cause]:
    for period in switches_for(records, row):
        if period.overlaps(begin, end):
            yield _held(period, begin, end, records.now)


def _held(period: SwitchPeriod, begin: datetime, end: datetime, now: datetime) -> Cause:
    """Return that a switch held an execution between two instants."""
    until = period.until if period.until is None or period.until <= now else None
    facts: dict[str, Fact] = {
        "switch": period.name,
        "actor": period.actor,
        "note": period.note,
        "since": period.since,
        "until": until,
        "length": min(end, until or end) - max(begin, period.since),
    }
    return Cause(Code.HELD_BY_SWITCH, max(begin, period.since), facts)


def _held_by_limit(row: Execution, begin: datetime, end: datetime) -> Iterator[Cause]:
    """Yield that an execution waited for a limit: its due time is when the limit let it go."""
    limits = limits_of(row.snapshot)
    if not limits:
        return
    waits = row.held_by.startswith(PARKED)
    has_waited = row.attempt <= 1 and not row.retried_at and row.due_at > begin + LATE
    if not (waits or has_waited):
        return
    key = row.held_by.removeprefix(PARKED)
    full = next((each for each in limits if each.key == key), limits[0])
    words = full.reason.partition("limit: ")[2]
    until = None if waits else min(row.due_at, end)
    facts: dict[str, Fact] = {"limit": words, "until": until, "length": (until or end) - begin}
    yield Cause(Code.HELD_BY_LIMIT, begin, facts)


def _runs_before(
    records: Records, row: Execution, begin: datetime, end: datetime
) -> Iterator[Cause]:
    """Yield the earlier runs of the schedule that an execution waited for."""
    if row.snapshot.overlap == "allow" and row.kind is not Kind.BACKFILL:
        return
    for other in sorted(records.nearby, key=lambda each: each.started_at or end):
        if other.id == row.id or not _ran(other, begin, end) or other.started_at is None:
            continue
        until = other.finished_at if not other.is_active else None
        if other.started_at > begin + LATE and row.kind is not Kind.BACKFILL:
            continue
        facts: dict[str, Fact] = {
            "execution": other.id,
            "slot": other.run_at,
            "since": other.started_at,
            "until": until,
            "length": (until or end) - max(begin, other.started_at),
        }
        yield Cause(Code.WAITED_FOR_RUN, begin, facts)


def _ran(other: Execution, begin: datetime, end: datetime) -> bool:
    """Return whether an execution ran at some instant between two instants."""
    if other.started_at is None or other.started_at > end:
        return False
    started = other.first_started_at or other.started_at
    return started <= end and (other.is_active or (other.finished_at or begin) > begin)


def _healed(records: Records, row: Execution, due: datetime, end: datetime) -> Iterator[Cause]:
    """Yield the repairs that brought an execution to its start."""
    for action in records.actions:
        after = action.after if isinstance(action.after, dict) else {}
        code = HEALING.get(str(after.get("cause")))
        if action.verb != "heal" or code is None or action.at is None:
            continue
        if not (due <= action.at <= end + WRITTEN_WITHIN) or not _names(action, after, row):
            continue
        at = min(action.at, end)
        facts: dict[str, Fact] = {
            "queue": row.snapshot.queue,
            "after": at - due,
            "count": _count(after),
            "actor": action.actor,
        }
        yield Cause(code, at, facts)


def _names(action: Action, after: dict[str, Json], row: Execution) -> bool:
    """Return whether an entry is about an execution: by id, or by its queue if ids are left out."""
    ids = after.get("executions")
    listed = ids if isinstance(ids, list) else []
    is_cut = _count(after) > len(listed) and action.target == f"queue:{row.snapshot.queue}"
    return row.id in listed or is_cut


def _count(after: dict[str, Json]) -> int:
    count = after.get("count")
    return count if isinstance(count, int) else 0


def _of_workers(
    records: Records, row: Execution, begin: datetime, end: datetime
) -> Iterator[Cause]:
    """Yield what the sessions of workers show: none was alive, or its worker ran other work."""
    queue = row.snapshot.queue
    serving = [each for each in records.sessions if queue in each.queues and each.started_at]
    starts = [each.started_at for each in serving if each.started_at is not None]
    if starts and min(starts) > begin + LATE:
        first = min(starts)
        yield Cause(Code.NO_WORKER, begin, {"queue": queue, "since": begin, "until": first})
        return
    if not starts and row.is_live:
        yield Cause(Code.NO_WORKER, begin, {"queue": queue, "since": begin, "until": None})
        return
    session = _session_of(records, row)
    busy = [each for each in records.meanwhile if each.id != row.id and _ran(each, begin, end)]
    same = [each for each in busy if session and _session_of(records, each) == session]
    if same:
        ids = tuple(each.id for each in same[:MOST_NAMED])
        yield Cause(Code.WORKER_BUSY, begin, {"session": session, "count": len(same), "ids": ids})


def _session_of(records: Records, row: Execution) -> str:
    attempts = records.attempts.get(row.id, ())
    return attempts[0].session if attempts else row.session
