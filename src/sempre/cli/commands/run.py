"""`sempre run`: trigger a schedule, and wait for the execution to end."""

from collections.abc import Sequence
from datetime import timedelta
from threading import Event

import click

from sempre.app.presentation.executions import EXECUTION, has_ended
from sempre.app.times import format_duration
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.results import result_in_words, shown_result
from sempre.domain.states import State
from sempre.engine.core import Engine
from sempre.errors import NotFound
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Attempt

__all__ = ["run"]

FIRST_REST = 0.05
LONGEST_REST = 2.0
GROWTH = 1.5


@click.command
@click.argument("name", type=SCHEDULE_NAME)
@click.option("--wait", is_flag=True, help="Wait until the run ends; exit 1 unless it succeeded.")
@click.option("--timeout", metavar="D", help="Longest wait, such as 10m; the run goes on.")
@why_option
@context_options
def run(context: CommandContext, *, name: str, wait: bool, timeout: str | None, why: str) -> None:
    """Run a schedule now, in addition to its slots.

    The run has the arguments of the schedule. Disabled and paused schedules run too.
    """
    longest = read_duration("timeout", timeout) if timeout is not None else None
    [schedule] = context.schedules([name])
    row = schedule.trigger(why=why)
    _warn_without_workers(context)
    if not wait:
        _report_triggered(context, row)
        return
    inform(f"waiting for {row.id}")
    ended = _wait_until_ended(context.app.engine, row.id, timeout=longest)
    attempts = context.read(context.store.attempts(row.id))
    _report_ended(context, ended, attempts)
    if ended.state is not State.SUCCEEDED:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _wait_until_ended(
    engine: Engine, execution_id: str, *, timeout: timedelta | None = None
) -> Execution:
    """Return an execution once it has ended; the store is queried less and less often.

    Raises:
        NotFound: the execution does not exist, or was purged meanwhile.
        UnreadableRow: this process cannot read the execution.
        Failure: the execution has not ended in time.
    """
    began, rest, never = engine.clock.elapsed(), FIRST_REST, Event()
    while True:
        found = engine.read_one(engine.store.candidates([execution_id]))
        if found is None:
            raise NotFound("execution", execution_id)
        if has_ended(found.execution):
            return found.execution
        waited = engine.clock.elapsed() - began
        if timeout is not None and waited >= timeout.total_seconds():
            message = f"{execution_id} has not ended after {format_duration(timeout)}; it goes on."
            raise Failure(message, advice=f"sempre execution {execution_id}")
        left = LONGEST_REST if timeout is None else timeout.total_seconds() - waited
        # Waiting for an event, which is never set, ends at Ctrl-C.
        never.wait(min(rest, max(0.0, left)))
        rest = min(LONGEST_REST, rest * GROWTH)


def _report_triggered(context: CommandContext, row: Execution) -> None:
    if context.output.as_json:
        context.output.json({"execution": EXECUTION.json(row, context.redact)})
        return
    context.output.line(row.id)
    inform(f"{row.snapshot.name} starts as soon as a worker is free: sempre execution {row.id}")


def _report_ended(context: CommandContext, row: Execution, attempts: Sequence[Attempt]) -> None:
    last = attempts[-1] if attempts else None
    error = redacted_text(last.error, context.redact) if last else ""
    if context.output.as_json:
        result = shown_result(last.result, context.redact) if last else None
        answer = EXECUTION.json(row, context.redact) | {"result": result, "error": error or None}
        context.output.json({"execution": answer})
        return
    time = row.took
    took = "" if time is None else f" in {format_duration(time)}"
    result_text = result_in_words(last.result, context.redact) if last else ""
    shown = f": {result_text}" if result_text else ""
    context.output.line(f"{row.state} {row.snapshot.name}{took}{shown}")
    if row.state is not State.SUCCEEDED:
        inform(error.rstrip() or row.reason or "no reason was recorded")


def _warn_without_workers(context: CommandContext) -> None:
    if not context.live_sessions():
        inform("warning: no worker is alive; the run waits until one starts.")
