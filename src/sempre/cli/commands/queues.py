"""`sempre queues`: the backlog of each queue, its age, and the workers that serve it."""

import click

from sempre.app.presentation.fleet import QUEUE, read_queues, read_workers
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.tables import print_table

__all__ = ["queues"]


@click.command
@context_options
def queues(context: CommandContext) -> None:
    """List queues: backlog, age, workers.

    The first column is the state: * served, = stopped by a switch, ! work is due and no live worker
    serves the queue. At most 10,000 waiting executions of a queue are counted.
    """
    context.read(context.store.last_pass())
    found = read_queues(context, read_workers(context))
    if context.output.as_json:
        context.output.json({"queues": [QUEUE.json(each) for each in found]})
        return
    print_table(context, QUEUE, found)
    for each in found:
        if each.is_unserved:
            inform(f"warning: no live worker serves the queue {each.name}.")
            inform(f"  try: sempre worker APP -q {each.name}")
