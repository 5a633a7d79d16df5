"""`sempre queues`: the backlog of each queue, its age, and the workers that serve it."""

import click

from sempre.cli.context import CommandContext
from sempre.cli.fields import Field, Fields
from sempre.cli.fleet import MOST_COUNTED, QueueBacklog, read_queues, read_workers
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.times import format_duration

__all__ = ["QUEUE", "queues", "shown_count"]


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
    QUEUE.print_table(context, found)
    for each in found:
        if each.is_unserved:
            inform(f"warning: no live worker serves the queue {each.name}.")
            inform(f"  try: sempre worker APP -q {each.name}")


def shown_count(count: int | None) -> str:
    """Return a bounded count as text: `10,000+` beyond the bound, nothing for zero."""
    if count is None:
        return "?"
    return f"{MOST_COUNTED:,}+" if count > MOST_COUNTED else f"{count:,}"


def _light(queue: QueueBacklog) -> str:
    if queue.is_unserved:
        return "!"
    return "=" if queue.stopped_by else "*"


def _oldest(queue: QueueBacklog, context: CommandContext) -> str:
    return format_duration(context.now - queue.oldest_at) if queue.oldest_at else ""


def _note(queue: QueueBacklog) -> str:
    if queue.stopped_by:
        return f"stopped by the switch {queue.stopped_by}"
    return "no live worker serves this queue" if queue.is_unserved else ""


QUEUE = Fields[QueueBacklog](
    Field("", _light, column=""),
    Field("name", lambda each: each.name, column="QUEUE", flexible=14),
    Field("due", lambda each: each.due, column="DUE", text=lambda e, _: shown_count(e.due)),
    Field("oldest_due_at", lambda each: each.oldest_at, column="OLDEST", text=_oldest),
    Field(
        "upcoming",
        lambda each: each.upcoming,
        column="FUTURE",
        text=lambda e, _: shown_count(e.upcoming),
    ),
    Field("held", lambda each: each.held, column="HELD", text=lambda e, _: shown_count(e.held)),
    Field("running", lambda each: each.running, column="RUNNING", text=lambda e, _: f"{e.running}"),
    Field("workers", lambda each: each.workers, column="WORKERS", text=lambda e, _: f"{e.workers}"),
    Field("stopped_by", lambda each: each.stopped_by or None),
    Field("unserved", lambda each: each.is_unserved),
    Field("", _note, column="NOTE", below=True),
)
