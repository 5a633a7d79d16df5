"""`sempre logs`: what the job of an execution wrote by `logging`."""

from collections.abc import Sequence
from functools import partial
from threading import Event

import click

from sempre.app.presentation.executions import has_ended
from sempre.app.presentation.run_logs import AttemptLog, log_json, logs_of
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.run_logs import execution_of, follow_logs
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.errors import NotFound

__all__ = ["logs"]

INTERVAL = 1.0


@click.command
@click.argument("id")
@click.option("-f", "--follow", is_flag=True, help="Print new lines until the execution has ended.")
@click.option(
    "--attempt", type=click.IntRange(1), metavar="N", help="Show this attempt; default the newest."
)
@click.option("--all", "everything", is_flag=True, help="Show every attempt, the first one first.")
@context_options
def logs(
    context: CommandContext,
    *,
    id: str,  # noqa: A002 - as it is called on the command line
    follow: bool,
    attempt: int | None,
    everything: bool,
) -> None:
    """Show what a run logged.

    The log of the newest attempt at an execution: what its job wrote by Python's logging. A worker
    stores new lines with its heartbeat, and all lines before it records the end of the run.
    """
    if attempt is not None and (everything or follow):
        raise click.UsageError("--attempt shows one attempt; leave out --all and -f.")
    if follow:
        # Waiting for an event, which is never set, ends at Ctrl-C.
        _follow(context, id, everything=everything, rest=partial(Event().wait, INTERVAL))
        return
    row = execution_of(context, id)
    found = logs_of(context, row)
    shown = found if everything else _chosen(found, row, attempt)
    if context.output.as_json:
        context.output.json(
            {"execution": id, "state": str(row.state), "logs": [log_json(each) for each in shown]}
        )
        return
    for each in shown:
        if everything:
            context.output.line(f"attempt {each.attempt}")
        context.output.plain(each.lines.after(0))
    if not any(each.lines.total for each in shown):
        inform(_without_lines(row, found, shown))


def _follow(
    context: CommandContext, identity: str, *, everything: bool, rest: partial[bool]
) -> None:
    """Print the lines of an execution as they come; with --json an object for each line."""
    last = None
    has_lines = False
    for attempt, lines in follow_logs(context, identity, everything=everything, rest=rest):
        if attempt != last and attempt > 1:
            inform(f"attempt {attempt}")
        last = attempt
        has_lines |= bool(lines)
        if context.output.as_json:
            for line in lines:
                told = {"execution": identity, "attempt": attempt, "line": line}
                context.output.json(told)
        else:
            context.output.plain(lines)
    if not has_lines:
        inform(f"{identity} has ended and logged nothing.")


def _chosen(found: Sequence[AttemptLog], row: Execution, attempt: int | None) -> list[AttemptLog]:
    if attempt is None:
        return list(found[-1:])
    if attempt > len(found):
        raise NotFound("attempt", f"{attempt} of {row.id}")
    return [found[attempt - 1]]


def _without_lines(row: Execution, found: Sequence[AttemptLog], shown: Sequence[AttemptLog]) -> str:
    """Explain why there are no lines to show, and where there are some."""
    earlier = [str(each.attempt) for each in found if each.lines.total]
    hint = f" `sempre logs {row.id} --attempt {earlier[-1]}` has lines." if earlier else ""
    if not shown:
        if has_ended(row):
            return f"{row.id} never ran: {row.state}."
        return (
            f"{row.id} has not begun: {row.state}. `sempre logs {row.id} -f` waits for its lines."
        )
    name = f"attempt {shown[-1].attempt} at {row.id}"
    if row.state is State.RUNNING and shown[-1].fence == row.fence:
        return f"{name} has logged nothing up to the last heartbeat of its worker.{hint}"
    return f"{name} logged nothing at its log level; loggers drop INFO unless set to it.{hint}"
