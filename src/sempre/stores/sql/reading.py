"""Reading: views, candidates and pages."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, get_args

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.errors import InstantError
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import (
    Candidate,
    ExecutionQuery,
    Page,
    ScheduleQuery,
    View,
    Wanted,
)
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import Lane, lane, read_execution, read_schedule, tag_text
from sempre.stores.sql.switches import Stops

__all__ = [
    "asked_for_next",
    "bounds",
    "candidates",
    "due",
    "due_ids",
    "executions",
    "latest",
    "next_due_at",
    "of_rows",
    "schedules",
    "views_of",
]

EARLIEST, LATEST = -(2**62), 2**62


def views_of(transaction: Transaction, found: Sequence[Sequence[Any]]) -> list[View]:
    """Return schedules, given as rows of theirs, with the executions that planning looks at."""
    ids = sorted({row[0] for row in found})
    rows: dict[str, dict[str, Execution]] = {each: {} for each in ids}
    seen = transaction.rows("view_rows", ids=ids) if ids else []
    for row in sorted(seen, key=itemgetter(0)):
        rows[row[1]][row[0]] = read_execution(row)
    return [
        View(schedule, tuple(rows[schedule.id].values())) for schedule in map(read_schedule, found)
    ]


def of_rows(
    transaction: Transaction, found: Sequence[Sequence[Any]], stops: Stops
) -> list[Candidate]:
    """Return executions, given as rows, with the views of their schedules and what stops them."""
    ids = sorted({row[1] for row in found if row[1] is not None})
    owners = transaction.rows("schedules_by_id", ids=ids) if ids else []
    views = {view.schedule.id: view for view in views_of(transaction, owners)}
    viewed = {row.id: row for view in views.values() for row in view.rows}
    rows = (viewed.get(row[0]) or read_execution(row) for row in found)
    return [_candidate(row, views.get(row.schedule_id or ""), stops) for row in rows]


def _candidate(row: Execution, view: View | None, stops: Stops) -> Candidate:
    if not stops.switches or not row.is_live:
        return Candidate(row, view)
    tags = {view.schedule.id: view.schedule.definition.tags} if view else {}
    return Candidate(row, view, stops.stopping(row, tags))


def candidates(transaction: Transaction, ids: Sequence[str], stops: Stops) -> list[Candidate]:
    """Return the executions of these ids that exist, in the order asked for."""
    found = {row[0]: row for row in transaction.rows("rows_by_id", ids=list(ids))}
    return of_rows(transaction, [found[each] for each in ids if each in found], stops)


def due(transaction: Transaction, wanted: Wanted, stops: Stops) -> list[Candidate]:
    """Return rows of schedules that are due, most urgent first, or overdue ones by age."""
    ids = due_ids(transaction, wanted, stops)
    owners = transaction.rows("schedules_of", ids=ids) if ids else []
    views = views_of(transaction, owners)
    found = {row.id: _candidate(row, view, stops) for view in views for row in view.rows}
    # What waits is among the rows of its view, unless its schedule is gone.
    if gone := [each for each in ids if each not in found]:
        found |= {each.execution.id: each for each in candidates(transaction, gone, stops)}
    return [found[each] for each in ids]


def due_ids(
    transaction: Transaction, wanted: Wanted, stops: Stops, *, within: timedelta = timedelta(0)
) -> list[str]:
    """Return the ids of the same, also of those that will be due within a while."""
    asked = stops.due(wanted)
    if asked is None:
        return []
    name = "due" if wanted.overdue is None else "overdue"
    found = transaction.rows(name, **asked, **bounds(transaction, wanted, within=within))
    return [row[0] for row in found]


def bounds(
    transaction: Transaction, wanted: Wanted, *, within: timedelta = timedelta(0)
) -> dict[str, int]:
    """Return by when what is wanted has to be due, and how much of it is wanted."""
    latest = transaction.now + within - (wanted.overdue or timedelta(0))
    return {"now": microseconds_of(latest), "limit": wanted.limit}


def next_due_at(
    transaction: Transaction, wanted: Wanted, *, after: datetime | None = None
) -> datetime | None:
    """Return when the next wanted row is due, of a schedule or one-off, after an instant."""
    [(at,)] = transaction.rows("next_due", **asked_for_next(wanted, after=after))
    return None if at is None else instant_of(at)


def asked_for_next(wanted: Wanted, *, after: datetime | None = None) -> dict[str, Any]:
    """Return the parameters by which a statement finds the next wanted row."""
    lanes = (lane(queue, which) for queue in wanted.queues for which in get_args(Lane))
    since = EARLIEST if after is None else microseconds_of(after)
    return {"lanes": sorted(lanes), "jobs": sorted(wanted.jobs), "since": since}


def executions(transaction: Transaction, query: ExecutionQuery) -> Page[Execution]:
    """Return a page of executions, newest slot first."""
    at, identity = _read_key(query.after) if query.after else (LATEST, "")
    asked: dict[str, Any] = {
        "at": at,
        "id": identity,
        "since": microseconds_of(query.since) if query.since else EARLIEST,
        "until": microseconds_of(query.until) if query.until else LATEST,
        "states": sorted(query.states or State),
        "kinds": sorted(query.kinds or Kind),
        "limit": query.limit + 1,
    }
    if query.schedule_id is not None:
        asked |= {"schedule_id": query.schedule_id, "job": query.job or ""}
        found = transaction.rows("history_of_schedule", **asked)
    elif query.job is not None:
        found = transaction.rows("history_of_job", job=query.job, **asked)
    else:
        found = transaction.rows("history_of_all", **asked)
    page = tuple(map(read_execution, found[: query.limit]))
    return Page(page, _key(page[-1]) if len(found) > query.limit and page else "")


def latest(
    transaction: Transaction, schedule_ids: Sequence[str], limit: int
) -> dict[str, tuple[Execution, ...]]:
    """Return the newest executions of each of these schedules, newest slot first."""
    found: dict[str, list[Execution]] = {each: [] for each in schedule_ids}
    rows = transaction.rows("latest_rows", ids=sorted(found), limit=limit) if found else []
    for row in map(read_execution, rows):
        found[row.schedule_id or ""].append(row)
    for newest in found.values():
        newest.sort(key=lambda row: (row.run_at, row.id), reverse=True)
    return {each: tuple(newest) for each, newest in found.items()}


def schedules(transaction: Transaction, query: ScheduleQuery) -> Page[Schedule]:
    """Return a page of schedules, by name."""
    found = transaction.rows(
        "schedules_page",
        after=query.after,
        job=query.job or "",
        tag=tag_text(query.tag) if query.tag is not None else "",
        text=query.text.casefold(),
        limit=query.limit + 1,
    )
    page = tuple(map(read_schedule, found[: query.limit]))
    return Page(page, page[-1].name if len(found) > query.limit and page else "")


def _key(row: Execution) -> str:
    return f"{row.run_at.isoformat()} {row.id}"


def _read_key(text: str) -> tuple[int, str]:
    at, _, identity = text.partition(" ")
    try:
        return microseconds_of(datetime.fromisoformat(at).astimezone(UTC)), identity
    except ValueError:
        raise InstantError("after", text, allowed="the `after` of an earlier page") from None
