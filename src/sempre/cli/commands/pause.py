"""`sempre pause` and `sempre resume`: stop schedules for a while."""

from collections.abc import Sequence

import click

from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, why_option
from sempre.cli.schedule_verbs import apply_to_schedules

__all__ = ["pause", "resume"]


@click.command
@click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
@click.option("--until", metavar="T", help="End the pause at an instant, or after 2h.")
@click.option("-m", "--note", default="", help="Reason, shown with the pause.")
@context_options
def pause(context: CommandContext, *, names: Sequence[str], until: str | None, note: str) -> None:
    """Pause schedules.

    A paused schedule starts only what `sempre run` triggers. Executions that run already finish. A
    deploy does not end a pause.
    """
    apply_to_schedules(context, names, lambda each: each.pause(until=until, note=note), "paused")


@click.command
@click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
@why_option
@context_options
def resume(context: CommandContext, *, names: Sequence[str], why: str) -> None:
    """Resume paused schedules.

    Slots that passed during the pause do not run; see `sempre backfill`.
    """
    apply_to_schedules(context, names, lambda each: each.resume(why=why), "resumed")
