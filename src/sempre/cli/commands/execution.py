"""`sempre execution`: the state, the attempts, the result and the error of one execution."""

from datetime import datetime

import click

from sempre.app.presentation.executions import ATTEMPT, EXECUTION, NumberedAttempt
from sempre.app.times import format_age, json_instant
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options
from sempre.cli.tables import print_table, record_of
from sempre.domain.redaction import redacted_text
from sempre.domain.run_log import read_log
from sempre.errors import NotFound
from sempre.ports.messages import Report
from sempre.telemetry.traces import span_ids

__all__ = ["execution"]


@click.command
@click.argument("id")
@context_options
def execution(context: CommandContext, *, id: str) -> None:  # noqa: A002 - as it is called on the command line
    """Show one execution.

    Its state, the progress of its run, the number of lines in the log of its newest attempt, the
    trace of its enqueue, its attempts, its result, and the traceback of its last error. ID may be
    the beginning of an id, if no other id begins with it.
    """
    identity = context.execution_id(id)
    found = context.read_one(context.store.candidates([identity]))
    if found is None:
        raise NotFound("execution", id)
    row = found.execution
    found_attempts = context.read(context.store.attempts(identity))
    attempts = [NumberedAttempt(n, attempt, row) for n, attempt in enumerate(found_attempts, 1)]
    # A report of an earlier attempt has an older fence.
    reports = context.read(context.store.reports([identity]))
    report = next((each for each in reports if each.fence == row.fence), None)
    logs = context.read(context.store.run_logs(identity))
    lines = next((read_log(each.text).total for each in logs if each.fence == row.fence), 0)
    trace_id = span_ids(row.snapshot.trace).get("trace_id", "")
    if context.output.as_json:
        answer = EXECUTION.json(row, context.redact)
        answer["progress"] = report and _progress_json(report)
        answer["log_lines"] = lines
        answer["trace_id"] = trace_id or None
        answer["attempts"] = [ATTEMPT.json(each, context.redact) for each in attempts]
        context.output.json({"execution": answer})
        return
    context.output.line(f"{row.state} {row.snapshot.name}")
    context.output.facts(record_of(context, EXECUTION, row))
    context.output.facts([("progress", _progress_text(report, context.now))] if report else [])
    context.output.facts([("log", _log_text(lines, id))] if logs else [])
    context.output.facts([("trace", trace_id)] if trace_id else [])
    if attempts:
        context.output.line("")
        print_table(context, ATTEMPT, attempts)
    errors = [each.attempt.error for each in attempts if each.attempt.error]
    if errors:
        context.output.lines(["", redacted_text(errors[-1], context.redact).rstrip()])


def _log_text(lines: int, identity: str) -> str:
    return f"{lines:,} line{'' if lines == 1 else 's'}: sempre logs {identity}"


def _progress_text(report: Report, now: datetime) -> str:
    amount = f"{report.done:g}" if report.total is None else f"{report.done:g} of {report.total:g}"
    when = format_age(report.reported_at, now) if report.reported_at else ""
    return ", ".join(filter(None, (amount, report.note, when)))


def _progress_json(report: Report) -> dict[str, object]:
    progress = {"done": report.done, "total": report.total, "note": report.note}
    return {**progress, "reported_at": json_instant(report.reported_at)}
