"""`sempre backfill`: run slots of the past that did not run, or did not succeed."""

from datetime import datetime, timedelta

import click

from sempre.cli.desk import Desk
from sempre.cli.failing import Code, Failure
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.summaries import execution_json
from sempre.cli.times import as_json
from sempre.domain.execution import Execution
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
@click.argument("name")
@click.option("--from", "start", metavar="T", required=True, help="The first instant.")
@click.option("--to", "end", metavar="T", required=True, help="The last instant, inclusive.")
@click.option("--dry-run", is_flag=True, help="Only say which slots would run.")
@click.option("--assume-not-run", is_flag=True, help="Also slots that no record is left of.")
@click.option("-y", "--yes", is_flag=True, help=f"Needed for more than {MANY} slots.")
@operating
def backfill(
    desk: Desk, *, name: str, start: str, end: str, dry_run: bool, assume_not_run: bool, yes: bool
) -> None:
    """Run past slots that did not run.

    Also those that failed. They run one at a time, in order, and give way to what is due. Whether a
    slot ran is on record for as long as executions are kept (the setting retention); before that
    --assume-not-run decides.
    """
    begin, last = desk.instant("from", start), desk.instant("to", end)
    schedule = desk.view(name).schedule
    grid, retention = schedule.definition.grid, desk.app.settings.retention
    moment = PlanningTime(desk.now, desk.app.engine.tzdata)
    early = slots_before_retention(schedule, moment, start=begin, end=last, retention=retention)
    kept_since = desk.now - retention
    first = begin if assume_not_run else max(begin, min(kept_since, last))
    slots = _slots(desk, name, first, last, assume_not_run=assume_not_run)
    if dry_run:
        _tell_slots(desk, slots, grid, 0 if assume_not_run else early)
        return
    if early and not assume_not_run:
        later = written_instant(kept_since.replace(second=0, microsecond=0) + MINUTE)
        advice = f'sempre backfill {name} --from "{later}" --to "{end}"'
        raise Failure(_unrecorded(desk, early), code=Code.REFUSED, advice=advice)
    if len(slots) > MANY and not yes:
        message = f"{len(slots):,} slots of {name} would run; --yes says that it is meant."
        advice = f'sempre backfill {name} --from "{start}" --to "{end}" --dry-run'
        raise Failure(message, code=Code.REFUSED, advice=advice)
    rows = desk.app.schedule(name).backfill(begin, last, assume_not_run=assume_not_run)
    if desk.output.as_json:
        desk.output.json({"executions": [execution_json(row, desk.redact) for row in rows]})
        return
    desk.output.lines([f"{row.id}  {desk.shown(row.run_at, grid)}" for row in rows])
    talk(f"{len(rows)} slots of {name} will run, one at a time.")


def _unrecorded(desk: Desk, early: int) -> str:
    """Say how many slots lie before retention, and what they need."""
    retention = desk.app.settings.retention
    limit = written_instant((desk.now - retention).replace(microsecond=0))
    lie = "lies" if early == 1 else "lie"
    count = f"{early:,} of the asked slots {lie} before {limit}"
    why = f"executions are kept for {written_length(retention)}"
    return f"{count}: {why}, so whether they ran is unknown; --assume-not-run runs them too."


def _slots(
    desk: Desk, name: str, start: datetime, end: datetime, *, assume_not_run: bool
) -> list[datetime]:
    """Return which slots a backfill would run, by the very plan that it would carry out."""
    view = desk.view(name)
    rows = {row.id: row for row in (*_past(desk, view.schedule.id, start), *view.rows)}
    moment = PlanningTime(desk.now, desk.app.engine.tzdata)
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
        assume_not_run=assume_not_run,
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


def _tell_slots(desk: Desk, slots: list[datetime], grid: Grid, early: int) -> None:
    if desk.output.as_json:
        told = [as_json(slot) for slot in slots]
        desk.output.json({"slots": told, "before_retention": early})
        return
    desk.output.lines([desk.shown(slot, grid) for slot in slots[:SHOWN]])
    if len(slots) > SHOWN:
        desk.output.line(f"... and {len(slots) - SHOWN:,} more")
    talk(f"{len(slots):,} slots would run.")
    if early:
        talk(_unrecorded(desk, early))
