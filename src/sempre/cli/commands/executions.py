"""`sempre executions`: executions, and ranges of slots that passed without one."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import click

from sempre.cli.context import CommandContext
from sempre.cli.executions import EXECUTION, RANGE, RangeOf
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.domain.execution import SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
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


@click.command
@click.option("-s", "--schedule", metavar="NAME", help="Only executions of this schedule.")
@click.option("--job", help="Only executions of this job.")
@click.option("--failed", is_flag=True, help="Short for --state failed.")
@click.option("--running", is_flag=True, help="Short for --state running.")
@click.option("--state", "states", type=STATES, multiple=True, help="Only this state; repeatable.")
@click.option("--kind", "kinds", type=KINDS, multiple=True, help="Only this kind; repeatable.")
@click.option("--since", metavar="T", help="Slots from an instant, or from 1h ago.")
@click.option("--until", metavar="T", help="Slots up to an instant, or up to 1h ago.")
@count_option("-n", "--limit", what="Most executions", default=20, most=10_000)
@context_options
def executions(
    context: CommandContext,
    *,
    schedule: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    **filters: Any,  # noqa: ANN401 - as click has parsed them
) -> None:
    """List executions.

    The newest slot comes first; executions in the future wait for their slot. With --state missed,
    skipped or superseded, a second table has the ranges of slots that passed without an execution.
    """
    context.read(context.store.last_pass())
    chosen = context.view(schedule).schedule if schedule else None
    query = ExecutionQuery(
        schedule_id=chosen.id if chosen else None,
        job=filters["job"],
        states=_states(**filters),
        kinds=frozenset(map(Kind, filters["kinds"])),
        since=_point(context, "since", since),
        until=_point(context, "until", until),
        limit=min(PAGE, limit),
    )
    rows = list(islice(context.executions(query), limit))
    ranges = _ranges(context, query, chosen, limit)
    if context.output.as_json:
        answer = [EXECUTION.json(row, context.redact) for row in rows]
        context.output.json({"executions": answer, "ranges": [RANGE.json(r) for r in ranges]})
        return
    without = ["NAME"] if chosen else []
    EXECUTION.print_table(context, rows, without=without)
    if ranges:
        context.output.line("")
        RANGE.print_table(context, ranges, without=without)


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
