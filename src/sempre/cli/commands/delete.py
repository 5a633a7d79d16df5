"""`sempre delete` and `sempre rename`: schedules that go, or get another name."""

import sys

import click

from sempre.app.times import json_instant
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.errors.wording import counted

__all__ = ["delete", "rename"]


@click.command
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@why_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@context_options
def delete(context: CommandContext, *, names: tuple[str, ...], why: str, yes: bool) -> None:
    """Delete schedules.

    Due executions still run, and history stays until it is purged. Code that declares a schedule
    creates it again at its next start.
    """
    schedules = context.schedules(names)
    declared = [each.name for each in schedules if each.row.declared]
    if declared:
        inform(f"warning: code declares {', '.join(declared)}, and creates it at its next start.")
    if not yes:
        _confirm(len(schedules))
    for schedule in schedules:
        schedule.delete(why=why)
    if context.output.as_json:
        answer = [{"name": each.name, "declared": each.name in declared} for each in schedules]
        context.output.json({"deleted": answer})
    else:
        context.output.lines(f"ok deleted {each.name}" for each in schedules)


@click.command
@click.argument("name")
@click.argument("to")
@why_option
@context_options
def rename(context: CommandContext, *, name: str, to: str, why: str) -> None:
    """Give a schedule another name.

    Its history, slots and policies stay. A schedule that code declares is renamed in the code.
    """
    [schedule] = context.schedules([name])
    row = schedule.rename(to, why=why).row
    if context.output.as_json:
        context.output.json(
            {"name": row.name, "before": name, "next_run_at": json_instant(row.next_run_at)}
        )
    else:
        context.output.line(f"ok {name} is now {row.name}")


def _confirm(count: int) -> None:
    """Ask on a terminal; refuse where no one can answer."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        if click.confirm(f"Delete {counted(count, 'schedule')}?", err=True):
            return
        raise Failure("nothing was deleted.", code=ExitCode.REFUSED)
    message = f"{counted(count, 'schedule')} would be deleted; confirm with --yes."
    raise Failure(message, code=ExitCode.REFUSED)
