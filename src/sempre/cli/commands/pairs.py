"""`sempre pairs`: the results of the queries of pairs on the user's tables."""

import click

from sempre.app.health.pairs import pairs_of
from sempre.app.health.reader import Reader
from sempre.app.presentation import pairs as shared
from sempre.cli.context import CommandContext
from sempre.cli.fields import Fields
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.domain.pair import PAIR as PREFIX

__all__ = ["pairs"]

PAIR = Fields.of(shared.PAIR)


@click.command
@context_options
def pairs(context: CommandContext) -> None:
    """List pairs and their last scans.

    The first column is the state: * ok, ~ no scan for three intervals, x the scan failed, ! the
    contract found work that the scan did not.
    """
    reader = Reader(context.app.engine)
    found = list(pairs_of(reader, reader.schedules(text=PREFIX)))
    if context.output.as_json:
        context.output.json({"pairs": [PAIR.json(each) for each in found]})
        return
    PAIR.print_table(context, found)
    if not found:
        inform("there are no pairs.")
