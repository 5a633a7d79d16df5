"""`sempre executions`: executions, and ranges of slots that passed without one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest
from itertools import islice
from typing import Any

import click

from sempre.app.presentation.executions import EXECUTION, RANGE, RangeOf, happened_at
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.following import follow
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.plan import TICK
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.errors import InvalidInput
from sempre.grids.relative_instants import read_point
from sempre.ports.messages import ExecutionQuery

__all__ = ["executions"]

STATES = click.Choice([str(state) for state in State])
KINDS = click.Choice([str(kind) for kind in Kind])
PAGE = 500
WITHOUT_ROW = frozenset({State.MISSED, State.SKIPPED, State.SUPERSEDED})
"""The states of slots that may have passed without an execution."""
# One query per schedule: the ranges of further schedules are left out.
MOST_SCHEDULES = 1000
# The store has no order by the next slot: so many future executions are read and sorted.
MOST_UPCOMING = 10_000


@click.command
@click.option(
    "-s",
    "--schedule",
    type=SCHEDULE_NAME,
    metavar="NAME",
    help="Only executions of this schedule.",
)
@click.option("--job", help="Only executions of this job.")
@click.option("--failed", is_flag=True, help="Short for --state failed.")
@click.option("--running", is_flag=True, help="Short for --state running.")
@click.option("--upcoming", is_flag=True, help="Only executions in the future, the next one first.")
@click.option("--state", "states", type=STATES, multiple=True, help="Only this state; repeatable.")
@click.option("--kind", "kinds", type=KINDS, multiple=True, help="Only this kind; repeatable.")
@click.option("--since", metavar="T", help="Slots from an instant, or from 1h ago.")
@click.option("--until", metavar="T", help="Slots up to an instant, or up to 1h ago.")
@click.option("-f", "--follow", "is_followed", is_flag=True, help="Print changes as they happen.")
@count_option("-n", "--limit", what="Most executions", default=20, most=10_000)
@context_options
def executions(
    context: CommandContext,
    *,
    schedule: str | None,
    limit: int,
    upcoming: bool,
    is_followed: bool,
    **filters: Any,  # noqa: ANN401 - as click has parsed them
) -> None:
    """List executions.

    What happened last comes first. Executions whose slot is in the future are listed with
    --upcoming, --until or --state scheduled. With --state missed, skipped or superseded, a second
    table has the ranges of slots that passed without an execution.
    """
    if is_followed and (upcoming or filters["until"]):
        raise InvalidInput("follow", "yes", allowed="--follow without --upcoming and --until")
    context.read(context.store.last_pass())
    chosen = context.view(schedule).schedule if schedule else None
    query = _query(context, chosen, limit, upcoming=upcoming, **filters)
    without = ["NAME"] if chosen else []
    if is_followed:
        follow(context, query, limit, without=without)
        return
    rows = _upcoming(context, query, limit) if upcoming else _latest(context, query, limit)
    ranges = _ranges(context, query, chosen, limit)
    if context.output.as_json:
        answer = [EXECUTION.json(row, context.redact) for row in rows]
        context.output.json({"executions": answer, "ranges": [RANGE.json(r) for r in ranges]})
        return
    print_table(context, EXECUTION, rows, without=without)
    if ranges:
        context.output.line("")
        print_table(context, RANGE, ranges, without=without)


def _query(
    context: CommandContext,
    schedule: Schedule | None,
    limit: int,
    *,
    upcoming: bool,
    **filters: Any,  # noqa: ANN401 - as click has parsed them
) -> ExecutionQuery:
    states = _states(**filters)
    query = ExecutionQuery(
        schedule_id=schedule.id if schedule else None,
        job=filters["job"],
        states=states,
        kinds=frozenset(map(Kind, filters["kinds"])),
        since=_point(context, "since", filters["since"]),
        until=_point(context, "until", filters["until"]),
        limit=min(PAGE, limit),
    )
    if upcoming:
        return replace(query, since=query.since or context.now + TICK, limit=PAGE)
    # The future is apart, unless it is asked for.
    if query.until is None and not states & LIVE:
        return replace(query, until=context.now)
    return query


def _latest(context: CommandContext, query: ExecutionQuery, limit: int) -> list[Execution]:
    """Return the executions of the newest slots; what happened last comes first."""
    rows = list(islice(context.executions(query), limit))
    return sorted(rows, key=lambda row: (happened_at(row), row.id), reverse=True)


def _upcoming(context: CommandContext, query: ExecutionQuery, limit: int) -> list[Execution]:
    """Return the executions of future slots, the next slot first."""
    rows = list(islice(context.executions(query), MOST_UPCOMING + 1))
    if len(rows) > MOST_UPCOMING:
        inform(f"warning: of the {MOST_UPCOMING:,} latest slots only; -s NAME asks one schedule.")
    return nsmallest(limit, rows[:MOST_UPCOMING], key=lambda row: (row.run_at, row.id))


def _point(context: CommandContext, field: str, text: str | None) -> datetime | None:
    """Return the instant of an option, which may be a length of time before now."""
    if text is None:
        return None
    zone, now = context.app.settings.timezone, context.now
    return read_point(field, text, now=lambda: now, ago=True, timezone=zone)


def _states(
    *, states: Sequence[str], failed: bool, running: bool, **_others: object
) -> frozenset[State]:
    short = {State.FAILED: failed, State.RUNNING: running}
    return frozenset(map(State, states)) | {state for state, wanted in short.items() if wanted}


def _ranges(
    context: CommandContext, query: ExecutionQuery, schedule: Schedule | None, limit: int
) -> list[RangeOf]:
    """Return the ranges of slots in the states of a query, newest first."""
    if not query.states & WITHOUT_ROW or (query.kinds and Kind.SCHEDULED not in query.kinds):
        return []
    found = [
        RangeOf(each, owner)
        for owner in _schedules(context, query, schedule)
        for each in context.read(context.store.ranges(owner.id, limit=limit))
        if each.state in query.states and _is_within(each, query)
    ]
    return sorted(found, key=lambda each: each.slots.last, reverse=True)[:limit]


def _schedules(
    context: CommandContext, query: ExecutionQuery, schedule: Schedule | None
) -> Iterator[Schedule]:
    if schedule is not None:
        return iter([schedule])
    some = list(islice(context.app.schedules.find(job=query.job), MOST_SCHEDULES + 1))
    if len(some) > MOST_SCHEDULES:
        inform(f"warning: ranges of the first {MOST_SCHEDULES:,} schedules only; -s NAME asks one.")
    return iter(some[:MOST_SCHEDULES])


def _is_within(found: SlotRange, query: ExecutionQuery) -> bool:
    begins = query.until is None or found.first <= query.until
    return begins and (query.since is None or found.last >= query.since)
