"""`sempre enable` and `sempre disable`: part of the definition of a schedule."""

from collections.abc import Sequence

import click

from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, why_option
from sempre.cli.schedule_verbs import apply_to_schedules

__all__ = ["disable", "enable"]


@click.command
@click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
@why_option
@context_options
def enable(context: CommandContext, *, names: Sequence[str], why: str) -> None:
    """Enable schedules.

    They run from their next slot on.
    """
    apply_to_schedules(context, names, lambda each: each.enable(why=why), "enabled")


@click.command
@click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
@why_option
@context_options
def disable(context: CommandContext, *, names: Sequence[str], why: str) -> None:
    """Disable schedules.

    Unlike a pause, `enabled` is part of the definition: a deploy whose code changes `enabled`
    overrides this command.
    """
    apply_to_schedules(context, names, lambda each: each.disable(why=why), "disabled")
