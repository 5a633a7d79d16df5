"""Pages of history and of schedules, by key.

A script reads a bounded number of rows, so that a rare state or name never keeps the server busy;
the next script continues until the page is full.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.ports.messages import ExecutionQuery, Page, Reading, ScheduleQuery, Waiting
from sempre.ports.page_key import PageKey
from sempre.stores.redis.arguments import listed
from sempre.stores.redis.decoding import LeftOut, executions_of, schedules_of
from sempre.stores.redis.encoding import (
    EXECUTION,
    MICROSECOND,
    SCHEDULE,
    instant,
    json_text,
    stamp,
)

__all__ = ["execution_ids", "executions", "latest", "read_waiting", "schedules", "waiting"]

Run = Callable[[str, Iterable[str | int]], Any]
AT_ONCE = 1_000
SEARCHES, SEARCHED_AT_ONCE = 20, 5_000
_RUN_AT, _NAME = EXECUTION.position("run_at"), SCHEDULE.position("name")
PAST_ALL = "\U0010ffff\U0010ffff"


def executions(run: Run, query: ExecutionQuery) -> Reading[Page[Execution]]:
    """Return a page of executions, newest slot first."""
    if query.states == {State.RUNNING} and query.schedule_id is None:
        return _running(run, query)
    index, value, job = "history", "", ""
    if query.schedule_id is not None:
        index, value, job = "history-of-schedule", query.schedule_id, query.job or ""
    elif query.job is not None:
        index, value = "history-of-job", query.job
    last = f"[{stamp(query.until)}{PAST_ALL}" if query.until else "+"
    first = f"[{stamp(query.since)}" if query.since else "-"
    if query.after:
        after = f"({_read_key(query.after)}"
        last = after if last == "+" else min(after, last, key=lambda bound: bound[1:])
    asked = [*listed(query.states or State), *listed(query.kinds or Kind), job]
    found: list[Any] = []
    while True:
        rest = query.limit + 1 - len(found)
        now, (rows, member) = run("executions", [index, value, last, first, *asked, rest, AT_ONCE])
        found += rows
        if len(found) > query.limit or not member:
            break
        last = f"({member}"
    after = _key(found[query.limit - 1]) if len(found) > query.limit else ""
    left_out: LeftOut = []
    page = tuple(executions_of(found[: query.limit], left_out))
    return Reading(instant(now), Page(page, after), tuple(left_out))


def _running(run: Run, query: ExecutionQuery) -> Reading[Page[Execution]]:
    """Return a page of running executions, from the index of what runs: history is far longer."""
    now, rows = run("all_running", [])
    left_out: LeftOut = []
    found = [each for each in executions_of(rows, left_out) if _is_asked_for(each, query)]
    found.sort(key=_place, reverse=True)
    if query.after:
        after = PageKey.read(query.after)
        found = [each for each in found if _place(each) < after]
    page = tuple(found[: query.limit])
    place = str(_place(page[-1])) if len(found) > query.limit else ""
    return Reading(instant(now), Page(page, place), tuple(left_out))


def _is_asked_for(row: Execution, query: ExecutionQuery) -> bool:
    return (
        (not query.kinds or row.kind in query.kinds)
        and (query.job is None or row.snapshot.job == query.job)
        and (query.since is None or row.run_at >= query.since)
        and (query.until is None or row.run_at <= query.until)
    )


def _place(row: Execution) -> PageKey:
    return PageKey(row.run_at, row.id)


def execution_ids(run: Run, prefix: str, limit: int) -> Reading[list[str]]:
    """Return ids that begin with a prefix, of the newest slots."""
    found: list[str] = []
    last = "+"
    for _ in range(SEARCHES):
        now, (ids, member) = run("execution_ids", [prefix, last, SEARCHED_AT_ONCE])
        found += ids
        if len(found) >= limit or not member:
            break
        last = f"({member}"
    return Reading(instant(now), sorted(found[:limit], reverse=True))


def latest(run: Run, ids: Sequence[str], limit: int) -> Reading[dict[str, tuple[Execution, ...]]]:
    """Return the newest executions of each of these schedules."""
    now, found = run("latest", [*listed(ids), limit])
    left_out: LeftOut = []
    rows = [tuple(executions_of(each, left_out)) for each in found]
    return Reading(instant(now), dict(zip(ids, rows, strict=True)), tuple(left_out))


def schedules(run: Run, query: ScheduleQuery) -> Reading[Page[Schedule]]:
    """Return a page of schedules, by name."""
    job = int(query.job is not None), query.job or ""
    tag = int(query.tag is not None), query.tag or ""
    asked: list[str | int] = [*job, *tag, query.text.casefold()]
    found: list[Any] = []
    after = query.after
    while True:
        rest = query.limit + 1 - len(found)
        now, (rows, after) = run("schedules", [after, *asked, rest, AT_ONCE])
        found += rows
        if len(found) > query.limit or not after:
            break
    last = found[query.limit - 1][_NAME] if len(found) > query.limit else ""
    left_out: LeftOut = []
    page = tuple(schedules_of(found[: query.limit], left_out))
    return Reading(instant(now), Page(page, last), tuple(left_out))


def waiting(
    run: Run, queues: frozenset[str] | None, horizon: timedelta, after: str, limit: int
) -> Reading[Page[Waiting]]:
    """Return a page of waiting rows, lane by lane."""
    place = json.loads(after) if after else ("", "", "")
    named = [int(queues is None), *listed(sorted(queues or ()))]
    asked = [*named, horizon // MICROSECOND, min(limit, AT_ONCE), *place]
    now, (rows, ended) = run("waiting", asked)
    page = tuple(map(read_waiting, rows))
    return Reading(instant(now), Page(page, json_text(ended) if ended else ""))


def read_waiting(row: Sequence[str]) -> Waiting:
    """Return the waiting execution that a script reports."""
    identity, due_at, queue, priority, attempt, state = row
    numbers = int(priority), int(attempt)
    return Waiting(identity, instant(due_at), queue, *numbers, State(state))


def _key(row: Sequence[str]) -> str:
    return str(PageKey(instant(row[_RUN_AT]), row[0]))


def _read_key(text: str) -> str:
    """Return the member of an index that the key of a page names."""
    run_at, identity = PageKey.read(text)
    return stamp(run_at) + identity
