"""`sempre reconcile`: run a watchdog pass now, over all schedules or one."""

import click

from sempre.app.times import format_duration
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.engine.events import Event, Happened
from sempre.engine.pass_report import PassReport

__all__ = ["reconcile"]


@click.command
@click.argument("name", type=SCHEDULE_NAME, required=False)
@context_options
def reconcile(context: CommandContext, *, name: str | None) -> None:
    """Run a watchdog pass now.

    The pass checks and repairs every schedule, whether it is due for a check or not; with NAME,
    that schedule alone.
    """
    context.app.events.listen(_warn_of_failure, Happened.FAULTY, Happened.UNKNOWN_GRID)
    if name is not None:
        _reconcile_one(context, name)
        return
    report = context.app.watchdog.force()
    if context.output.as_json:
        context.output.json({"report": report.facts})
    else:
        context.output.lines(_repairs(report))
        seconds = format_duration(report.seconds)
        inform(f"checked {report.schedules_processed} schedules in {seconds}.")
    if report.schedules_failed:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _reconcile_one(context: CommandContext, name: str) -> None:
    [schedule] = context.schedules([name])
    healed = schedule.reconcile() if schedule.started else schedule.start() is not None
    row = schedule.row
    if context.output.as_json:
        context.output.json({"name": name, "healed": healed})
        return
    slot = row.next_run_at
    after = f", next {context.shown(slot, row.definition.grid)}" if slot else ", no next slot"
    context.output.line(f"{'repaired' if healed else 'ok'} {name}{after}")


def _repairs(report: PassReport) -> list[str]:
    counts = {
        "executions created": report.executions_created,
        "executions announced to the broker": report.orphans_enqueued,
        "executions announced again": report.rung_again,
        "old executions purged": report.purged,
        "schedules not repaired, see the warnings": report.schedules_failed,
    }
    return [f"{count} {what}" for what, count in counts.items() if count] or ["nothing to repair"]


def _warn_of_failure(event: Event) -> None:
    inform(f"warning: {event.facts.get('schedule')} is skipped: {event.facts.get('error')}")
