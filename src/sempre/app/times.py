"""Times as people read them: instants on a labelled wall clock, lengths in one short word."""

from datetime import UTC, datetime, timedelta

from sempre.grids.grid import Grid
from sempre.grids.wall_clock import format_instant

__all__ = ["format_age", "format_duration", "format_instant", "json_instant", "zone_of"]

MINUTE, HOUR, DAY = 60, 3600, 86_400
BLINK, SHORT = 0.1, 10


def format_duration(duration: timedelta | float) -> str:
    """Write a length of time in its largest unit: `3ms`, `0.8s`, `12s`, `4m`, `7h`, `3d`."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    if 0 < seconds < BLINK:
        return f"{seconds * 1000:.0f}ms"
    if seconds < SHORT:
        return f"{seconds:.1f}s".replace(".0s", "s")
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f}s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f}m"
    return f"{seconds / HOUR:.0f}h" if seconds < 2 * DAY else f"{seconds / DAY:.0f}d"


def format_age(instant: datetime, now: datetime) -> str:
    """Write how long ago an instant was, or in how long it will be."""
    if instant > now:
        return f"in {format_duration(instant - now)}"
    return f"{format_duration(now - instant)} ago"


def json_instant(instant: datetime | None) -> str | None:
    """Write an instant as ISO 8601 in UTC, as `--json` has it everywhere."""
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def zone_of(grid: Grid | None, usual: str | None = None) -> str:
    """Return the name of a grid's time zone; without one, the usual zone or UTC."""
    return str(getattr(grid, "timezone", usual or "UTC"))
