"""Monitors: when the runs of a schedule are expected, for services that watch them. Pure."""

from datetime import timedelta

from sempre.domain.arguments import Json
from sempre.domain.definition import Definition
from sempre.grids.cron import Cron
from sempre.grids.every import Every

__all__ = ["monitor_of"]

MINUTE = timedelta(minutes=1)
CRON_FIELDS = 5
# The units that monitoring services know, from ours; they know no seconds.
UNITS = {
    "minutes": "minute",
    "hours": "hour",
    "days": "day",
    "weeks": "week",
    "months": "month",
    "years": "year",
}


def monitor_of(definition: Definition) -> dict[str, Json] | None:
    """Return the configuration of a monitor from a grid; None if its slots cannot be written so.

    A cron expression of five fields is a crontab; an interval of whole minutes or more is an
    interval. Grids with seconds, and grids of the user's own classes, have no such form.
    """
    grid = definition.grid
    schedule: dict[str, Json] | None = None
    zone = "UTC"
    if isinstance(grid, Cron):
        zone = grid.timezone
        if len(grid.text.split()) == CRON_FIELDS:
            schedule = {"type": "crontab", "value": grid.text}
    elif isinstance(grid, Every) and grid.interval.unit in UNITS:
        zone = grid.timezone
        unit = UNITS[grid.interval.unit]
        schedule = {"type": "interval", "value": grid.interval.count, "unit": unit}
    if schedule is None:
        return None
    found: dict[str, Json] = {"schedule": schedule, "timezone": zone}
    margin = max(definition.jitter, definition.tolerance, MINUTE)
    found["checkin_margin"] = _minutes(margin)
    if definition.timeout is not None:
        found["max_runtime"] = _minutes(definition.timeout)
    found["failure_issue_threshold"] = definition.alert_after
    return found


def _minutes(length: timedelta) -> int:
    return max(1, -(-length // MINUTE))
