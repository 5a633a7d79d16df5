"""`sempre show`: the definition, the next slots and the history of one schedule."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import click

from sempre.app.presentation.definitions import definition_json, definition_lines
from sempre.app.presentation.executions import EXECUTION, RANGE, RangeOf
from sempre.app.presentation.schedules import LIGHTS, SCHEDULE, Summary, state_text, summaries_of
from sempre.app.presentation.slots import upcoming
from sempre.app.times import format_age, json_instant
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.execution import Execution
from sempre.errors import SempreError
from sempre.ports.messages import ExecutionQuery, Rollup, View

__all__ = ["show"]

SLOTS = 5


@click.command
@click.argument("name", type=SCHEDULE_NAME)
@count_option("-n", "count", what="Executions to show", default=10, least=0, most=1000)
@context_options
def show(context: CommandContext, *, name: str, count: int) -> None:
    """Show one schedule, its next slots and its history."""
    view = context.view(name)
    schedule = view.schedule
    query = ExecutionQuery(schedule_id=schedule.id, limit=count)
    rows = context.read(context.store.executions(query)).items if count else ()
    found = context.read(context.store.ranges(schedule.id, limit=count)) if count else []
    ranges = [RangeOf(each, schedule) for each in found]
    slots, rollups = _slots(view, context.now), context.read(context.store.rollups(schedule.id))
    [summary] = summaries_of(context, [schedule])
    if context.output.as_json:
        answer = {
            **SCHEDULE.json(summary, context.redact),
            "declared": bool(schedule.declared),
            "definition": definition_json(schedule.definition, context.redact),
            "notes": list(schedule.definition.grid.notes()),
            "next": [json_instant(slot) for slot in slots],
            "executions": [EXECUTION.json(row, context.redact) for row in rows],
            "ranges": [RANGE.json(each) for each in ranges],
            "purged": [_rollup_json(each) for each in rollups],
        }
        context.output.json({"schedule": answer})
        return
    _print(context, summary, slots)
    context.output.facts([("purged", _purged_text(rollups))])
    _print_history(context, rows, ranges)


def _print(context: CommandContext, summary: Summary, slots: list[datetime]) -> None:
    schedule, output = summary.schedule, context.output
    grid = schedule.definition.grid
    context.choose_zone([grid])
    output.line(f"{LIGHTS[summary.state]} {schedule.name}: {state_text(summary, context)}")
    output.facts(definition_lines(schedule, context.app.settings.retention, context.redact))
    output.facts(("note", note) for note in grid.notes())
    texts = [f"{context.shown_in_table(slot)} ({format_age(slot, context.now)})" for slot in slots]
    output.facts(("" if number else "next", text) for number, text in enumerate(texts))


def _rollup_json(rollup: Rollup) -> dict[str, object]:
    return {
        "day": rollup.day,
        "state": rollup.state,
        "kind": rollup.kind,
        "count": rollup.count,
        "seconds": rollup.seconds,
    }


def _purged_text(rollups: Sequence[Rollup]) -> str:
    """Return how many executions were purged, by kind and state, and the days of their slots."""
    if not rollups:
        return ""
    counts: dict[str, Counter[str]] = {}
    for each in rollups:
        # Counts of a release before schema version 3 have no kind.
        kind = each.kind or "of any kind"
        counts.setdefault(kind, Counter())[each.state] += each.count
    texts = [
        f"{kind}: " + ", ".join(f"{count:,} {state}" for state, count in states.most_common())
        for kind, states in counts.items()
    ]
    days = sorted(each.day for each in rollups)
    return f"{'; '.join(texts)}; from {days[0]} to {days[-1]}"


def _print_history(
    context: CommandContext, rows: tuple[Execution, ...], ranges: list[RangeOf]
) -> None:
    if rows:
        context.output.line("")
        print_table(context, EXECUTION, rows, without=["NAME"])
    if ranges:
        context.output.line("")
        print_table(context, RANGE, ranges, without=["NAME"])


def _slots(view: View, after: datetime) -> list[datetime]:
    try:
        return list(upcoming(view, after=after, count=SLOTS))
    except SempreError as error:
        inform(f"warning: the next slots are unknown here: {error}")
        return []
