"""`sempre enqueue`: run a job once, by its name."""

from datetime import datetime
from typing import Any

import click

from sempre.app.enqueue.named_job import NamedJob
from sempre.app.times import json_instant
from sempre.cli.commands.edit import read_json
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.errors import Refused
from sempre.grids.intervals import read_duration

__all__ = ["enqueue"]


@click.command
@click.argument("job")
@click.option("--args", default="{}", metavar="JSON", help="Arguments, as a JSON object.")
@click.option("--in", "delay", metavar="D", help="Start after a time, such as 10m.")
@click.option("--at", metavar="T", help="Start at an instant.")
@click.option("--queue", help="Queue; default that of the job's last run.")
@click.option("--priority", type=int, help="A lower number starts first.")
@why_option
@context_options
def enqueue(
    context: CommandContext,
    *,
    job: str,
    args: str,
    why: str,
    **options: Any,  # noqa: ANN401
) -> None:
    """Enqueue one run of a job.

    JOB is known from workers, schedules or earlier executions. Its worker checks the arguments.
    """
    policy = {name: options[name] for name in ("queue", "priority") if options[name] is not None}
    due_at = _due_at(context, options["delay"], options["at"])
    named = NamedJob(context.app.engine, job, actor=context.app.actor)
    answer = named.enqueue(read_json(args), due_at=due_at, why=why, **policy)
    if not answer.created:
        raise Refused(f"{job} was not enqueued: rejected by {answer.rejected_by}.")
    if context.output.as_json:
        context.output.json({"id": answer.id, "job": job, "due_at": json_instant(due_at)})
    else:
        when = f", due {context.shown(due_at)}" if due_at else ""
        context.output.line(f"{answer.id} {job}{when}")


def _due_at(context: CommandContext, delay: str | None, at: str | None) -> datetime | None:
    if delay is not None and at is not None:
        raise Failure("give --in or --at, not both.", code=ExitCode.USAGE)
    if at is not None:
        return context.instant("at", at)
    if delay is None:
        return None
    return context.app.engine.present() + read_duration("in", delay)
