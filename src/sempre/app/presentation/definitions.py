"""The definition of a schedule, in words and as JSON values."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta

from sempre.app.presentation.executions import shown_args
from sempre.app.presentation.fields import json_value
from sempre.app.times import format_duration, json_instant, zone_of
from sempre.domain.definition import Definition
from sempre.domain.limits import Concurrency, Rate
from sempre.domain.policies import Retry
from sempre.domain.redaction import redacted
from sempre.domain.schedule import Schedule
from sempre.errors import GridError
from sempre.grids.grid import Grid

__all__ = ["definition_json", "definition_lines"]

# Shown in words of their own, and not as values.
IN_WORDS = frozenset({"job", "grid", "args", "enabled", "retention", "keep"})


def definition_lines(
    schedule: Schedule, retention: timedelta, redact: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return the definition of a schedule as names and texts, without policies at their default.

    The retention is that of the application, for a schedule without one of its own.
    """
    declared = schedule.definition
    origin = "declared by code" if schedule.declared else "created at run time"
    return [
        ("job", declared.job),
        ("when", declared.grid.explain()),
        ("timezone", zone_of(declared.grid)),
        ("args", shown_args(declared.args, (*redact, *declared.redact))),
        *(
            (each.name, _text(getattr(declared, each.name)))
            for each in fields(Definition)
            if each.name not in IN_WORDS and getattr(declared, each.name) != each.default
        ),
        ("history", _kept(declared, retention)),
        ("revision", f"{schedule.revision}, {origin}"),
    ]


def _kept(declared: Definition, retention: timedelta) -> str:
    """Return how long ended executions are kept, in words."""
    setting = "" if declared.retention else " (the setting retention)"
    kept = f"{format_duration(declared.kept_for(retention))}{setting}"
    return (
        f"kept {kept}; the newest {declared.keep:,} at any age" if declared.keep else f"kept {kept}"
    )


def definition_json(declared: Definition, redact: Sequence[str] = ()) -> dict[str, object]:
    """Return every field of a definition as a JSON value, without secrets; lengths in seconds."""
    values = {each.name: _value(getattr(declared, each.name)) for each in fields(Definition)}
    return values | {"args": redacted(dict(declared.args), (*redact, *declared.redact))}


def _value(value: object) -> object:
    if isinstance(value, Retry):
        waits = {"base": value.base.total_seconds(), "cap": value.cap.total_seconds()}
        return {"limit": value.limit, **waits}
    if isinstance(value, Concurrency | Rate):
        number = {"limit": value.word, "count": value.count}
        if isinstance(value, Rate):
            number["seconds"] = value.period.total_seconds()
        return {**number, "key": list(value.key), "tag": value.tag}
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return _grid_json(value) if isinstance(value, Grid) else json_value(value)


def _grid_json(grid: Grid) -> dict[str, object]:
    """Return the stored form of a grid, with its cron text or its interval and anchor."""
    try:
        return grid.to_json()
    except GridError:
        # A grid class of the user's own without a name, in a memory store.
        return {"grid": None, "class": type(grid).__name__}


def _text(value: object) -> str:
    """Return the value of a policy as people read it."""
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, datetime):
        return str(json_instant(value))
    if isinstance(value, Retry):
        waits = (
            f", {format_duration(value.base)} to {format_duration(value.cap)} apart"
            if value.limit
            else ""
        )
        return f"{value.limit} times{waits}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no", None: "none"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]
