"""Reading operations: views, candidates and pages."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any, get_args

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import (
    Candidate,
    ExecutionQuery,
    Page,
    ScheduleQuery,
    View,
    Wanted,
)
from sempre.ports.page_key import PageKey
from sempre.stores.sql.decoding import (
    LeftOut,
    Views,
    decoded,
    executions_of,
    schedules_of,
    views_among,
)
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import EXECUTION, SCHEDULE, Lane, lane, read_execution, tag_text
from sempre.stores.sql.switches import ActiveSwitches

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
    "readable_views",
    "schedules",
    "views_of",
]

Row = Sequence[Any]
EARLIEST, LATEST = -(2**62), 2**62
FEW_FAILURES = 20_000
"""So many failures are sorted for a page; more lie close enough together in history."""
_SCHEDULE_ID, _RUN_AT = EXECUTION.position("schedule_id"), EXECUTION.position("run_at")
_NAME = SCHEDULE.position("name")


def views_of(transaction: Transaction, found: Sequence[Row]) -> Views:
    """Return the schedules of these rows, with the executions that planning reads."""
    ids = sorted({row[0] for row in found})
    seen = transaction.view_rows(ids) if ids else []
    return views_among(found, sorted(seen, key=itemgetter(0)))


def readable_views(transaction: Transaction, found: Sequence[Row], left_out: LeftOut) -> list[View]:
    """Return the views that can be read; add the unreadable ones to `left_out`."""
    views = views_of(transaction, found)
    left_out += views.unreadable.values()
    return views.readable


def of_rows(
    transaction: Transaction, found: Sequence[Row], stops: ActiveSwitches, left_out: LeftOut
) -> list[Candidate]:
    """Return the executions of rows, with the views of their schedules and the stopping switch.

    An execution with an unreadable schedule is left out too: the run would have no successor.
    """
    ids = sorted({row[_SCHEDULE_ID] for row in found if row[_SCHEDULE_ID] is not None})
    owners = transaction.rows("schedules_by_id", ids=ids) if ids else []
    known, hidden = views_of(transaction, owners)
    owned = [(row[0], row[_SCHEDULE_ID]) for row in found]
    left_out += [hidden[owner].hides(each) for each, owner in owned if owner in hidden]
    views = {view.schedule.id: view for view in known}
    viewed = {row.id: row for view in known for row in view.rows}

    def read(row: Row) -> Execution:
        return viewed.get(row[0]) or read_execution(row)

    free = [row for row in found if row[_SCHEDULE_ID] not in hidden] if hidden else found
    rows = decoded("executions", free, read, left_out)
    return [_candidate(row, views.get(row.schedule_id or ""), stops) for row in rows]


def _candidate(row: Execution, view: View | None, stops: ActiveSwitches) -> Candidate:
    if not stops.switches or not row.is_live:
        return Candidate(row, view)
    tags = {view.schedule.id: view.schedule.definition.tags} if view else {}
    return Candidate(row, view, stops.stopping(row, tags))


def candidates(
    transaction: Transaction, ids: Sequence[str], stops: ActiveSwitches, left_out: LeftOut
) -> list[Candidate]:
    """Return the executions of these ids that exist, in the order of the ids."""
    found = {row[0]: row for row in transaction.rows("rows_by_id", ids=list(ids))}
    rows = [found[each] for each in ids if each in found]
    return of_rows(transaction, rows, stops, left_out)


def due(
    transaction: Transaction, wanted: Wanted, stops: ActiveSwitches, left_out: LeftOut
) -> list[Candidate]:
    """Return due rows of schedules, most urgent first, or overdue rows, oldest first."""
    ids = due_ids(transaction, wanted, stops)
    owners = transaction.rows("schedules_of", ids=ids) if ids else []
    views = views_of(transaction, owners).readable
    found = {row.id: _candidate(row, view, stops) for view in views for row in view.rows}
    # A waiting row is in the view of its schedule, unless the schedule is deleted or unreadable.
    if others := [each for each in ids if each not in found]:
        rest = candidates(transaction, others, stops, left_out)
        found |= {each.execution.id: each for each in rest}
    return [found[each] for each in ids if each in found]


def due_ids(
    transaction: Transaction,
    wanted: Wanted,
    stops: ActiveSwitches,
    *,
    within: timedelta = timedelta(0),
) -> list[str]:
    """Return the ids of rows of schedules that are due now or within a duration."""
    asked = stops.due(wanted)
    if asked is None:
        return []
    by_age = wanted.overdue is not None
    within_bounds = bounds(transaction, wanted, within=within)
    found = transaction.due(by_age=by_age, **asked, **within_bounds)
    return [row[0] for row in found]


def bounds(
    transaction: Transaction,
    wanted: Wanted,
    *,
    within: timedelta = timedelta(0),
    past: int = 0,
) -> dict[str, int]:
    """Return the latest due time of wanted rows, and their limit, raised by `past` rows to skip."""
    latest = transaction.now + within - (wanted.overdue or timedelta(0))
    return {"now": microseconds_of(latest), "limit": wanted.limit + past}


def next_due_at(
    transaction: Transaction, wanted: Wanted, *, after: datetime | None = None
) -> datetime | None:
    """Return when the next wanted row, of a schedule or one-off, is due after an instant."""
    [(at,)] = transaction.rows("next_due", **asked_for_next(wanted, after=after))
    return None if at is None else instant_of(at)


def asked_for_next(wanted: Wanted, *, after: datetime | None = None) -> dict[str, Any]:
    """Return the parameters by which a statement finds the next wanted row."""
    lanes = (lane(queue, which) for queue in wanted.queues for which in get_args(Lane))
    since = EARLIEST if after is None else microseconds_of(after)
    return {"lanes": sorted(lanes), "jobs": sorted(wanted.jobs), "since": since}


def executions(
    transaction: Transaction, left_out: LeftOut, query: ExecutionQuery
) -> Page[Execution]:
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
        found = transaction.rows(_history_of(transaction, query), **asked)
    page = found[: query.limit]
    after = _key(page[-1]) if len(found) > query.limit and page else ""
    return Page(tuple(executions_of(page, left_out)), after)


def _history_of(transaction: Transaction, query: ExecutionQuery) -> str:
    """Return the statement that finds executions of all schedules and jobs.

    What runs, and failures if they are few, have indexes of their own: among many successes, a
    page of them would otherwise be looked for in the whole history.
    """
    if query.states == {State.RUNNING}:
        return "history_of_running"
    if query.states == {State.FAILED}:
        [(count,)] = transaction.rows("failures_up_to", most=FEW_FAILURES + 1)
        return "history_of_failed" if count <= FEW_FAILURES else "history_of_all"
    return "history_of_all"


def latest(
    transaction: Transaction, left_out: LeftOut, schedule_ids: Sequence[str], limit: int
) -> dict[str, tuple[Execution, ...]]:
    """Return the newest executions of each of these schedules, newest slot first."""
    found: dict[str, list[Execution]] = {each: [] for each in schedule_ids}
    rows = transaction.latest_rows(sorted(found), limit) if found else []
    for row in executions_of(rows, left_out):
        found[row.schedule_id or ""].append(row)
    for newest in found.values():
        newest.sort(key=lambda row: (row.run_at, row.id), reverse=True)
    return {each: tuple(newest) for each, newest in found.items()}


def schedules(transaction: Transaction, left_out: LeftOut, query: ScheduleQuery) -> Page[Schedule]:
    """Return a page of schedules, by name."""
    found = transaction.rows(
        "schedules_page",
        after=query.after,
        job=query.job or "",
        tag=tag_text(query.tag) if query.tag is not None else "",
        text=query.text.casefold(),
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    after = page[-1][_NAME] if len(found) > query.limit and page else ""
    return Page(tuple(schedules_of(page, left_out)), after)


def _key(row: Row) -> str:
    return str(PageKey(instant_of(row[_RUN_AT]), row[0]))


def _read_key(text: str) -> tuple[int, str]:
    run_at, identity = PageKey.read(text)
    return microseconds_of(run_at), identity
