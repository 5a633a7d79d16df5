"""`sempre backfill`: run past slots that did not run or failed."""

from datetime import datetime, timedelta

import click

from sempre.app.presentation.executions import EXECUTION
from sempre.app.times import json_instant
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.domain.planning import PlanningTime, plan_backfill, slots_before_retention
from sempre.errors.wording import written_instant, written_length
from sempre.grids.grid import Grid
from sempre.ports.messages import ExecutionQuery

__all__ = ["backfill"]

MANY = 100
SHOWN = 20
PAGE = 500
RANGES = 10_000
MINUTE = timedelta(minutes=1)


@click.command
@click.argument("name", type=SCHEDULE_NAME)
@click.option("--from", "start", metavar="T", required=True, help="First instant.")
@click.option("--to", "end", metavar="T", required=True, help="Last instant, inclusive.")
@click.option("--dry-run", is_flag=True, help="Only print the slots that would run.")
@click.option("--assume-not-run", is_flag=True, help="Also run slots older than the kept history.")
@click.option("-y", "--yes", is_flag=True, help=f"Needed for more than {MANY} slots.")
@why_option
@context_options
def backfill(
    context: CommandContext,
    *,
    name: str,
    start: str,
    end: str,
    dry_run: bool,
    assume_not_run: bool,
    yes: bool,
    why: str,
) -> None:
    """Run past slots that did not succeed.

    Slots run one at a time, in order, after due work. History tells which slots ran for as long as
    executions are kept (the retention of the schedule, or else the setting); older slots run only
    with --assume-not-run.
    """
    begin, last = context.instant("from", start), context.instant("to", end)
    schedule = context.view(name).schedule
    grid = schedule.definition.grid
    retention = schedule.definition.kept_for(context.app.settings.retention)
    moment = PlanningTime(context.now, context.app.engine.tzdata)
    early = slots_before_retention(schedule, moment, start=begin, end=last, retention=retention)
    kept_since = context.now - retention
    first = begin if assume_not_run else max(begin, min(kept_since, last))
    slots = _slots(context, name, first, last, assume_not_run=assume_not_run)
    if dry_run:
        early = 0 if assume_not_run else early
        _print_slots(context, slots, grid, early)
        if early and not context.output.as_json:
            inform(_unrecorded(context, early, retention))
        return
    if early and not assume_not_run:
        later = written_instant(kept_since.replace(second=0, microsecond=0) + MINUTE)
        advice = f'sempre backfill {name} --from "{later}" --to "{end}"'
        raise Failure(_unrecorded(context, early, retention), code=ExitCode.REFUSED, advice=advice)
    if len(slots) > MANY and not yes:
        message = f"{len(slots):,} slots of {name} would run; confirm with --yes."
        advice = f'sempre backfill {name} --from "{start}" --to "{end}" --dry-run'
        raise Failure(message, code=ExitCode.REFUSED, advice=advice)
    chosen = context.app.schedule(name)
    rows = chosen.backfill(begin, last, assume_not_run=assume_not_run, why=why)
    if context.output.as_json:
        context.output.json({"executions": [EXECUTION.json(row, context.redact) for row in rows]})
        return
    context.output.lines([f"{row.id}  {context.shown(row.run_at, grid)}" for row in rows])
    inform(f"{len(rows)} slots of {name} will run, one at a time.")


def _unrecorded(context: CommandContext, early: int, retention: timedelta) -> str:
    """Return how many slots are older than the kept history, and the option to run them."""
    limit = written_instant((context.now - retention).replace(microsecond=0))
    count = f"{early:,} slot{' is' if early == 1 else 's are'} older than {limit}"
    why = f"executions are kept for {written_length(retention)}"
    return f"{count}: {why}, so history does not tell whether they ran; --assume-not-run runs them."


def _slots(
    context: CommandContext, name: str, start: datetime, end: datetime, *, assume_not_run: bool
) -> list[datetime]:
    """Return the slots that a backfill would run, from the plan that it would apply."""
    view = context.view(name)
    past = ExecutionQuery(schedule_id=view.schedule.id, since=start, limit=PAGE)
    rows = {row.id: row for row in (*context.executions(past), *view.rows)}
    moment = PlanningTime(context.now, context.app.engine.tzdata)
    retention = context.app.settings.retention
    ranges = context.read(context.store.ranges(view.schedule.id, limit=RANGES))
    plan = plan_backfill(
        view.schedule,
        rows.values(),
        moment,
        start=start,
        end=end,
        ranges=ranges,
        retention=retention,
        assume_not_run=assume_not_run,
    )
    return [draft.run_at for draft in plan.creates]


def _print_slots(context: CommandContext, slots: list[datetime], grid: Grid, early: int) -> None:
    if context.output.as_json:
        answer = [json_instant(slot) for slot in slots]
        context.output.json({"slots": answer, "before_retention": early})
        return
    context.output.lines([context.shown(slot, grid) for slot in slots[:SHOWN]])
    if len(slots) > SHOWN:
        context.output.line(f"... and {len(slots) - SHOWN:,} more")
    inform(f"{len(slots):,} slots would run.")
