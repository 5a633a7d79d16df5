"""Schedules and executions in words and rows, as `show`, `executions` and `execution` have them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta

from sempre.cli.desk import Desk
from sempre.cli.summaries import seconds_of_run
from sempre.cli.times import as_json, length, zone_of
from sempre.domain.arguments import Json
from sempre.domain.definition import Definition
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.policies import Retry
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.schedule import Schedule
from sempre.grids.grid import Grid

__all__ = ["definition_lines", "history_rows", "in_words", "range_rows", "shown_args"]

Table = tuple[Sequence[str], list[Sequence[str]]]
TOLD_APART = frozenset({"job", "grid", "args", "enabled"})


def definition_lines(schedule: Schedule, redact: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return what a schedule is, name and value: policies only where they are not the default."""
    declared = schedule.definition
    told = [
        ("job", declared.job),
        ("when", declared.grid.explain()),
        ("timezone", zone_of(declared.grid)),
    ]
    if declared.args:
        told.append(("args", shown_args(declared.args, (*redact, *declared.redact))))
    told += [
        (each.name, in_words(getattr(declared, each.name)))
        for each in fields(Definition)
        if each.name not in TOLD_APART and getattr(declared, each.name) != each.default
    ]
    kind = "code" if schedule.declared else "made at run time"
    return [*told, ("revision", f"{schedule.revision}, {kind}")]


def shown_args(args: Mapping[str, Json], redact: Sequence[str]) -> str:
    """Write arguments without their secrets and what stands under `redact`; nothing for none."""
    return json.dumps(redacted(dict(args), redact), ensure_ascii=False) if args else ""


def in_words(value: object) -> str:
    """Write the value of a policy."""
    if isinstance(value, timedelta):
        return length(value)
    if isinstance(value, datetime):
        return str(as_json(value))
    if isinstance(value, Retry):
        waits = f", {length(value.base)} to {length(value.cap)} apart" if value.limit else ""
        return f"{value.limit} times{waits}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no", None: "none"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]


def history_rows(desk: Desk, rows: Iterable[Execution], *, named: bool = False) -> Table:
    """Return executions as a table, with the name of their schedule or job if that is asked."""
    columns = ["ID", *(["NAME"] if named else []), "SLOT", "STATE", "LATE", "TOOK", "TRIES", "WHY"]
    return columns, [_history_row(desk, row, named=named) for row in rows]


def range_rows(desk: Desk, ranges: Iterable[SlotRange], grid: Grid) -> Table:
    """Return stretches of slots that passed without a row, as a table."""
    rows: list[Sequence[str]] = [
        (desk.shown(each.first, grid), desk.shown(each.last, grid), str(each.count), each.reason)
        for each in ranges
    ]
    return ("FROM", "TO", "SLOTS", "WHY"), rows


def _history_row(desk: Desk, row: Execution, *, named: bool) -> Sequence[str]:
    seconds = seconds_of_run(row)
    started = row.first_started_at
    late = length(max(timedelta(0), started - row.due_at)) if started and not row.failures else ""
    return (
        row.id,
        *([row.snapshot.name] if named else []),
        desk.shown(row.run_at, row.snapshot.grid),
        f"{row.state} (held)" if row.held_by else str(row.state),
        late,
        "" if seconds is None else length(seconds),
        str(row.attempt) if row.attempt else "",
        redacted_text(_why(row), desk.redact),
    )


def _why(row: Execution) -> str:
    who = f"{row.kind} by {row.actor}" if row.actor else str(row.kind)
    return f"{who}: {row.reason}" if row.reason else who
