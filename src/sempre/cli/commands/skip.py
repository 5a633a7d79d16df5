"""`sempre skip` and `sempre unskip`: leave one future slot out, or restore it."""

import click

from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, why_option
from sempre.cli.schedule_verbs import report_slot
from sempre.domain.states import State
from sempre.errors import Refused
from sempre.errors.wording import written_instant

__all__ = ["skip", "unskip"]


@click.command
@click.argument("name", type=SCHEDULE_NAME)
@click.option("--at", metavar="T", help="Instant of the slot; default the next slot.")
@why_option
@context_options
def skip(context: CommandContext, *, name: str, at: str | None, why: str) -> None:
    """Skip one future slot."""
    [schedule] = context.schedules([name])
    report_slot(context, schedule, "skipped", schedule.skip(at, why=why))


@click.command
@click.argument("name", type=SCHEDULE_NAME)
@click.option("--at", metavar="T", help="Instant of the slot; default the first skipped slot.")
@why_option
@context_options
def unskip(context: CommandContext, *, name: str, at: str | None, why: str) -> None:
    """Restore a skipped slot."""
    view = context.view(name)
    rows = [row for row in view.rows if row.state is State.SKIPPED and row.run_at > context.now]
    if at is None and not rows:
        raise Refused(f"{name} has no skipped slot in the future.")
    slot = context.instant("at", at) if at is not None else min(row.run_at for row in rows)
    [schedule] = context.schedules([name])
    if not schedule.unskip(slot, why=why):
        message = f"the slot {written_instant(slot)} of {name} is not skipped"
        raise Refused(f"{message}; see `sempre next {name}`.")
    report_slot(context, schedule, "restored", slot)
