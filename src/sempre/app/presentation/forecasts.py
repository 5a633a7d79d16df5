"""Forecasts as JSON values, for commands, pages and the API."""

from typing import Any

from sempre.app.times import json_instant
from sempre.domain.forecast import Forecast, Suggestion

__all__ = ["forecast_json"]


def forecast_json(found: Forecast) -> dict[str, Any]:
    """Return a forecast as a JSON object; the lists of minutes begin at its first instant."""
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
