"""`sempre dead`: executions that failed for good, with their errors."""

from itertools import islice

import click

from sempre.app.presentation.executions import EXECUTION
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.states import State
from sempre.errors.wording import counted

__all__ = ["dead"]


@click.command
@click.argument("text", default="")
@click.option("-s", "--schedule", metavar="NAME", help="Only executions of this schedule.")
@click.option("--job", help="Only executions of this job.")
@click.option("--tag", help="Only executions with this tag.")
@click.option("--since", metavar="T", help="Slots from an instant, or from 1h ago.")
@count_option("-n", "--limit", what="Most executions", default=20, most=10_000)
@context_options
def dead(context: CommandContext, *, text: str, limit: int, **filters: str | None) -> None:
    """List executions that failed for good.

    TEXT is a part of their errors. `sempre retry --failed` runs them again, and
    `sempre discard --failed` takes them off this list.
    """
    failed = context.app.executions(state=State.FAILED, **filters)
    found = (row for row in failed if text.casefold() in row.reason.casefold())
    rows = list(islice(found, limit + 1))
    if context.output.as_json:
        shown = [EXECUTION.json(row, context.redact) for row in rows[:limit]]
        context.output.json({"executions": shown, "more": len(rows) > limit})
        return
    print_table(context, EXECUTION, rows[:limit])
    more = "; more exist: raise -n" if len(rows) > limit else ""
    inform(f"{counted(len(rows[:limit]), 'failed execution')}{more}.")
