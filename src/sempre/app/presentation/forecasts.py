"""Forecasts as commands and pages show them: numbers, words, the curve to draw, and JSON."""

from datetime import timedelta
from typing import Any

from sempre.app.times import json_instant
from sempre.domain.forecast import Forecast, Suggestion
from sempre.domain.forecast.recurrence import DEFAULT_DURATION
from sempre.drawing import LoadCurve
from sempre.errors.wording import written_length

__all__ = ["curve_of", "duration_sources", "expected_number", "forecast_json", "quiet_text"]

MINUTE = timedelta(minutes=1)
TENTHS = 10
ORIGINS = {
    "schedule": "from their last runs",
    "daily counts": "from the average of purged runs",
    "job": "from other runs of their job",
    "default": f"assumed ({written_length(DEFAULT_DURATION)})",
}


def duration_sources(found: Forecast) -> str:
    """Return where the durations come from: `3 from their last runs, 1 assumed (10s)`."""
    return ", ".join(f"{count:,} {ORIGINS[name]}" for name, count in found.origins)


def quiet_text(found: Forecast) -> str:
    """Return the quiet hours, such as `03:00-05:00`; empty without any load."""
    if not any(found.starts):
        return ""
    return ", ".join(f"{each.first:02}:00-{each.until:02}:00" for each in found.quiet)


def expected_number(value: float) -> str:
    """Write an expected number: whole if it is large, to a tenth if it is small."""
    near = round(value, 1)
    return f"{near:,.0f}" if near >= TENTHS or near == round(near) else f"{near:.1f}"


def curve_of(found: Forecast) -> LoadCurve:
    """Return the load of a forecast for its drawing."""
    window = found.window
    return LoadCurve(
        window.start, MINUTE, found.p50, found.p95, found.starts, window.timezone, found.capacity
    )


def forecast_json(found: Forecast) -> dict[str, Any]:
    """Return a forecast as `--json` prints it."""
    p50, p95 = found.highest
    return {
        "from": json_instant(found.window.start),
        "to": json_instant(found.window.end),
        "timezone": found.window.timezone,
        "schedules": found.schedules,
        "durations": dict(found.origins),
        "starts": round(sum(found.starts), 3),
        "peak": {"p50": p50, "p95": p95},
        "capacity": found.capacity,
        "minutes_over_capacity": found.minutes_over_capacity,
        "minutes": {"starts": found.starts, "p50": found.p50, "p95": found.p95},
        "peaks": [{**vars(each), "at": json_instant(each.at)} for each in found.peaks],
        "collisions": [{**vars(each), "at": json_instant(each.at)} for each in found.collisions],
        "quiet_hours": [vars(each) for each in found.quiet],
        "overruns": [
            {
                "name": each.name,
                "interval": each.interval.total_seconds(),
                "p50": each.durations.p50.total_seconds(),
                "p95": each.durations.p95.total_seconds(),
                "overlap": each.overlap,
            }
            for each in found.overruns
        ],
        "suggestions": [_suggestion(each) for each in found.suggestions],
        "left_out": [vars(each) for each in found.left_out],
    }


def _suggestion(found: Suggestion) -> dict[str, Any]:
    return {
        "names": found.names,
        "options": found.options,
        "command": found.command,
        "peak_before": found.before,
        "peak_after": found.after,
    }
