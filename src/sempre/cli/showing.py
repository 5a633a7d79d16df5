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
from sempre.errors import GridError
from sempre.grids.grid import Grid

__all__ = [
    "definition_json",
    "definition_lines",
    "history_rows",
    "in_words",
    "range_json",
    "range_rows",
    "shown_args",
]

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


def definition_json(declared: Definition, redact: Sequence[str] = ()) -> dict[str, object]:
    """Return every field of a definition as a JSON value, without secrets; lengths in seconds."""
    told = {each.name: _as_value(getattr(declared, each.name)) for each in fields(Definition)}
    told["args"] = redacted(dict(declared.args), (*redact, *declared.redact))
    return told


def range_json(found: SlotRange, name: str) -> dict[str, object]:
    """Return a stretch of slots that passed without a row as a JSON value."""
    times = {"first": as_json(found.first), "last": as_json(found.last), "count": found.count}
    return {"schedule": name, **times, "state": str(found.state), "reason": found.reason}


def _as_value(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        return as_json(value)
    if isinstance(value, Retry):
        waits = {"base": value.base.total_seconds(), "cap": value.cap.total_seconds()}
        return {"limit": value.limit, **waits}
    if isinstance(value, Grid):
        return _grid_json(value)
    return list(value) if isinstance(value, tuple) else value


def _grid_json(grid: Grid) -> dict[str, object]:
    """Return the stored form of a grid, with its cron text or its interval and anchor."""
    try:
        return grid.to_json()
    except GridError:
        # One of the user's own without a name, in a store in memory.
        return {"grid": None, "class": type(grid).__name__}


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


def range_rows(
    desk: Desk, found: Iterable[tuple[SlotRange, Schedule]], *, named: bool = False
) -> Table:
    """Return stretches of slots that passed without a row, as a table."""
    columns = [*(["NAME"] if named else []), "FROM", "TO", "SLOTS", "STATE", "WHY"]
    return columns, [_range_row(desk, each, of, named=named) for each, of in found]


def _range_row(desk: Desk, each: SlotRange, of: Schedule, *, named: bool) -> Sequence[str]:
    first, last = (desk.shown(slot, of.definition.grid) for slot in (each.first, each.last))
    name = [of.name] if named else []
    return (*name, first, last, str(each.count), str(each.state), each.reason)


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
