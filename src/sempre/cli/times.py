"""Times as people read them: instants on a labelled wall clock, lengths in one short word."""

from sempre.app.times import format_age, format_duration, json_instant
from sempre.grids.grid import Grid
from sempre.grids.wall_clock import format_instant

__all__ = ["format_age", "format_duration", "format_instant", "json_instant", "zone_of"]


def zone_of(grid: Grid | None, usual: str | None = None) -> str:
    """Return the name of a grid's time zone; without one, the usual zone or UTC."""
    return str(getattr(grid, "timezone", usual or "UTC"))
