"""`sempre log`: who changed what, from what, to what, and why."""

from itertools import islice

import click

from sempre.app.presentation.actions import ACTION
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table

__all__ = ["log"]

KINDS = ("schedule", "execution", "switch", "job", "worker", "queue", "store")


@click.command
@click.argument("target", default="")
@click.option("--verb", help="Only this verb, such as pause or retry.")
@click.option("--actor", help="Only actions of this user.")
@click.option("--since", metavar="T", help="From an instant, or from 1h ago.")
@count_option("-n", "--limit", what="Most actions", default=20, most=10_000)
@context_options
def log(context: CommandContext, *, target: str, limit: int, **filters: str | None) -> None:
    """Show the log of actions, newest first.

    TARGET is the name of a schedule, or schedule:NAME, execution:ID, switch:NAME, job:NAME,
    worker:ID, queue:NAME or store:ID.
    """
    known = target.partition(":")[0] in KINDS and ":" in target
    chosen = target if known else f"schedule:{target}" if target else None
    actions = list(islice(context.app.actions(target=chosen, **filters), limit + 1))
    if context.output.as_json:
        shown = [ACTION.json(each, context.redact) for each in actions[:limit]]
        context.output.json({"actions": shown, "more": len(actions) > limit})
        return
    print_table(context, ACTION, actions[:limit])
    if not actions:
        inform("no action is on record.")
    elif len(actions) > limit:
        inform("more exist: raise -n.")
