"""Times as people read them: instants on a labelled wall clock, lengths in one short word."""

from datetime import UTC, datetime, timedelta, timezone

from sempre.grids.grid import Grid
from sempre.grids.instants import seconds_of
from sempre.grids.zones import zone

__all__ = ["format_age", "format_duration", "format_instant", "json_instant", "zone_of"]

MINUTE, HOUR, DAY = 60, 3600, 86_400
BLINK, SHORT = 0.1, 10
HALF_HOUR = timedelta(minutes=30)


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


def format_instant(
    instant: datetime, zone_name: str, *, now: datetime, labelled: bool = True
) -> str:
    """Write an instant on the clocks of a zone, labelled: `Sun 29 Mar 03:00 +02:00`.

    The year is written where it is not the present one, seconds where there are any. Without a
    label, the offset is written only where the clocks show the time twice.
    """
    wall = _on_clocks_of(zone_name, instant)
    year = "" if wall.year == _on_clocks_of(zone_name, now).year else f" {wall.year}"
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    text = f"{wall:%a} {wall.day} {wall:%b}{year} {clock}"
    if not labelled and not _is_repeated(zone_name, instant):
        return text
    return f"{text} {'UTC' if zone_name == 'UTC' else _offset(wall)}"


def _on_clocks_of(zone_name: str, instant: datetime) -> datetime:
    # Our own zones, by which slots are computed: the system's may be of another version.
    offset = timedelta(seconds=zone(zone_name).offset_at(seconds_of(instant)))
    return instant.astimezone(timezone(offset))


def _is_repeated(zone_name: str, instant: datetime) -> bool:
    """Return whether the clocks of a zone show the time of an instant twice."""
    wall = _on_clocks_of(zone_name, instant).replace(tzinfo=None)
    near = (instant + by for by in (HALF_HOUR, -HALF_HOUR, 2 * HALF_HOUR, -2 * HALF_HOUR))
    return any(_on_clocks_of(zone_name, each).replace(tzinfo=None) == wall for each in near)


def _offset(wall: datetime) -> str:
    text = f"{wall:%z}"
    return f"{text[:3]}:{text[3:5]}"
