"""`sempre executions` and `execution`: what ran, what did not, and why."""

from datetime import datetime

import click

from sempre.cli.desk import Desk
from sempre.cli.options import operating
from sempre.cli.ranges import ranges_of
from sempre.cli.showing import history_rows, range_json, range_rows, shown_args
from sempre.cli.summaries import execution_json
from sempre.cli.times import ago, as_json, length
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.results import result_in_words, shown_result
from sempre.domain.states import Kind, State
from sempre.errors import NotFound
from sempre.grids.relative_instants import read_point
from sempre.ports.messages import Attempt, ExecutionQuery, Report

__all__ = ["execution", "executions"]

STATES = click.Choice([str(state) for state in State])
KINDS = click.Choice([str(kind) for kind in Kind])


@click.command
@click.option("-s", "--schedule", metavar="NAME", help="Only those of this schedule.")
@click.option("--job", help="Only those of this job.")
@click.option("--failed", is_flag=True, help="The same as --state failed.")
@click.option("--running", is_flag=True, help="The same as --state running.")
@click.option("--state", "states", type=STATES, multiple=True, help="Only these.")
@click.option("--kind", "kinds", type=KINDS, multiple=True, help="Only these.")
@click.option("--since", metavar="T", help="Slots from this instant, or so long ago: 1h.")
@click.option("--until", metavar="T", help="Slots up to this instant, or so long ago.")
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=20, help="At most so many.")
@operating
def executions(
    desk: Desk, *, schedule: str | None, since: str | None, until: str | None, **filters: object
) -> None:
    """List executions.

    They come by slot, newest first; what lies in the future is waiting. With --state missed,
    skipped or superseded come also the stretches of slots that passed without an execution.
    """
    desk.read(desk.store.last_pass())
    of = desk.view(schedule).schedule if schedule else None
    query = ExecutionQuery(
        schedule_id=of.id if of else None,
        job=_text(filters["job"]),
        states=_states(filters),
        kinds=frozenset(map(Kind, _words(filters["kinds"]))),
        since=_point(desk, "since", since),
        until=_point(desk, "until", until),
    )
    limit = int(str(filters["limit"]))
    rows, ranges = _pages(desk, query, limit), ranges_of(desk, query, of, limit)
    if desk.output.as_json:
        told = [execution_json(row, desk.redact) for row in rows]
        stretches = [range_json(each, owner.name) for each, owner in ranges]
        desk.output.json({"executions": told, "ranges": stretches})
        return
    desk.output.table(*history_rows(desk, rows, named=of is None))
    if ranges:
        desk.output.line("")
        desk.output.table(*range_rows(desk, ranges, named=of is None))


@click.command
@click.argument("id")
@operating
def execution(desk: Desk, *, id: str) -> None:  # noqa: A002 - as it is called on the command line
    """Show all about one execution."""
    found = desk.read_one(desk.store.candidates([id]))
    if found is None:
        raise NotFound("execution", id)
    row = found.execution
    attempts = desk.read(desk.store.attempts(id))
    # One of an earlier attempt says nothing about this one.
    reports = [each for each in desk.read(desk.store.reports([id])) if each.fence == row.fence]
    if desk.output.as_json:
        tries = [_attempt_json(each, desk.redact) for each in attempts]
        progress = next(map(_report_json, reports), None)
        told = {**execution_json(row, desk.redact), "progress": progress, "attempts": tries}
        desk.output.json({"execution": told})
        return
    desk.output.line(f"{row.state} {row.snapshot.name}")
    facts = [*_facts(desk, row), *(("progress", _progress(each, desk.now)) for each in reports)]
    desk.output.lines([f"  {key:<12} {text}" for key, text in facts if text])
    if attempts:
        columns = ("TRY", "STARTED", "TOOK", "STATE", "RESULT")
        rows = [_attempt_row(desk, row, number, each) for number, each in enumerate(attempts, 1)]
        desk.output.line("")
        desk.output.table(columns, rows)
    errors = [redacted_text(each.error, desk.redact) for each in attempts if each.error]
    if errors:
        desk.output.lines(["", errors[-1].rstrip()])


def _point(desk: Desk, field: str, text: str | None) -> datetime | None:
    """Return an instant, from ISO 8601 or from how long ago it was; None if nothing was said."""
    if text is None:
        return None
    zone, now = desk.app.settings.timezone, desk.now
    return read_point(field, text, now=lambda: now, ago=True, timezone=zone)


def _states(filters: dict[str, object]) -> frozenset[State]:
    states = set(map(State, _words(filters["states"])))
    states |= {State.FAILED} if filters["failed"] else set()
    states |= {State.RUNNING} if filters["running"] else set()
    return frozenset(states)


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _pages(desk: Desk, query: ExecutionQuery, limit: int) -> list[Execution]:
    """Return so many executions, a page at a time: a page may be short and yet not the last."""
    rows: list[Execution] = []
    after = ""
    while len(rows) < limit:
        asked = ExecutionQuery(**{**vars(query), "limit": min(500, limit - len(rows))})
        page = desk.read(desk.store.executions(ExecutionQuery(**{**vars(asked), "after": after})))
        rows += page.items
        after = page.after
        if not after:
            break
    return rows


def _facts(desk: Desk, row: Execution) -> list[tuple[str, str]]:
    grid = row.snapshot.grid
    times = (row.run_at, row.due_at, row.first_started_at, row.finished_at)
    slot, due, started, finished = (desk.shown(each, grid) if each else "" for each in times)
    args = shown_args(row.snapshot.args, (*desk.redact, *row.snapshot.redact))
    return [
        ("id", row.id),
        ("job", row.snapshot.job),
        ("kind", f"{row.kind} by {row.actor}" if row.actor else str(row.kind)),
        ("reason", redacted_text(row.reason, desk.redact)),
        ("slot", slot),
        ("due", due if row.due_at != row.run_at else ""),
        ("started", started),
        ("finished", finished),
        ("tries", str(row.attempt)),
        ("crashes", str(row.crashes) if row.crashes else ""),
        ("queue", row.snapshot.queue),
        ("held by", row.held_by),
        ("args", args),
        ("key", row.key),
    ]


def _progress(report: Report, now: datetime) -> str:
    amount = f"{report.done:g}" if report.total is None else f"{report.done:g} of {report.total:g}"
    when = ago(report.told_at, now) if report.told_at else ""
    return ", ".join(filter(None, (amount, report.note, when)))


def _report_json(report: Report) -> dict[str, object]:
    told = {"done": report.done, "total": report.total, "note": report.note}
    return {**told, "told_at": as_json(report.told_at)}


def _attempt_row(desk: Desk, row: Execution, number: int, attempt: Attempt) -> tuple[str, ...]:
    state = f"{attempt.state} (late)" if attempt.late else str(attempt.state)
    last_line = redacted_text(attempt.error, desk.redact).strip().rpartition("\n")[2]
    return (
        str(number),
        desk.shown(attempt.started_at, row.snapshot.grid),
        length(attempt.finished_at - attempt.started_at),
        state,
        last_line or result_in_words(attempt.result, desk.redact),
    )


def _attempt_json(attempt: Attempt, redact: tuple[str, ...]) -> dict[str, object]:
    return {
        "started_at": as_json(attempt.started_at),
        "finished_at": as_json(attempt.finished_at),
        "state": str(attempt.state),
        "late": attempt.late,
        "result": shown_result(attempt.result, redact),
        "error": redacted_text(attempt.error, redact) or None,
    }
