"""`sempre backfill`: run slots of the past that did not run, or did not succeed."""

from datetime import datetime

import click

from sempre.cli.desk import Desk
from sempre.cli.failing import Code, Failure
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.summaries import execution_json
from sempre.cli.times import as_json
from sempre.domain.execution import Execution
from sempre.domain.planning import Moment, plan_backfill
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.ports.messages import ExecutionQuery

__all__ = ["backfill"]

MANY = 100
SHOWN = 20
PAGE = 500
RANGES = 10_000


@click.command
@click.argument("name")
@click.option("--from", "start", metavar="T", required=True, help="The first instant.")
@click.option("--to", "end", metavar="T", required=True, help="The last instant, inclusive.")
@click.option("--dry-run", is_flag=True, help="Only say which slots would run.")
@click.option("-y", "--yes", is_flag=True, help=f"Needed for more than {MANY} slots.")
@operating
def backfill(desk: Desk, *, name: str, start: str, end: str, dry_run: bool, yes: bool) -> None:
    """Run past slots that did not run.

    Also those that failed. They run one at a time, in order, and give way to what is due.
    """
    begin, last = read_instant("from", start), read_instant("to", end)
    slots = _slots(desk, name, begin, last)
    grid = desk.view(name).schedule.definition.grid
    if dry_run:
        _tell_slots(desk, slots, grid)
        return
    if len(slots) > MANY and not yes:
        message = f"{len(slots):,} slots of {name} would run; --yes says that it is meant."
        advice = f'sempre backfill {name} --from "{start}" --to "{end}" --dry-run'
        raise Failure(message, code=Code.REFUSED, advice=advice)
    rows = desk.app.schedule(name).backfill(begin, last)
    if desk.output.as_json:
        desk.output.json({"executions": [execution_json(row, desk.redact) for row in rows]})
        return
    desk.output.lines([f"{row.id}  {desk.shown(row.run_at, grid)}" for row in rows])
    talk(f"{len(rows)} slots of {name} will run, one at a time.")


def _slots(desk: Desk, name: str, start: datetime, end: datetime) -> list[datetime]:
    """Return which slots a backfill would run, by the very plan that it would carry out."""
    view = desk.view(name)
    rows = {row.id: row for row in (*_past(desk, view.schedule.id, start), *view.rows)}
    moment = Moment(desk.now, desk.app.engine.tzdata)
    retention = desk.app.settings.retention
    ranges = desk.read(desk.store.ranges(view.schedule.id, limit=RANGES))
    plan = plan_backfill(
        view.schedule,
        rows.values(),
        moment,
        start=start,
        end=end,
        ranges=ranges,
        retention=retention,
    )
    return [draft.run_at for draft in plan.creates]


def _past(desk: Desk, schedule_id: str, start: datetime) -> list[Execution]:
    rows: list[Execution] = []
    after = ""
    while True:
        query = ExecutionQuery(schedule_id=schedule_id, since=start, limit=PAGE, after=after)
        page = desk.read(desk.store.executions(query))
        rows += page.items
        after = page.after
        if not after:
            return rows


def _tell_slots(desk: Desk, slots: list[datetime], grid: Grid) -> None:
    if desk.output.as_json:
        desk.output.json({"slots": [as_json(slot) for slot in slots]})
        return
    desk.output.lines([desk.shown(slot, grid) for slot in slots[:SHOWN]])
    if len(slots) > SHOWN:
        desk.output.line(f"... and {len(slots) - SHOWN:,} more")
    talk(f"{len(slots):,} slots would run.")
