"""The time zone of an application, for grids and instants that state none."""

from collections.abc import Mapping
from typing import Any

from sempre.config import Settings
from sempre.grids.grid import Grid
from sempre.grids.relative_instants import read_in_zone

__all__ = ["placed", "with_instants"]


def placed(grid: Grid, settings: Settings) -> Grid:
    """Return a grid in the zone of the application, if the grid states none."""
    zone = settings.timezone
    return grid.in_zone(zone) if zone and isinstance(grid, Grid) else grid


def with_instants(options: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the options of a schedule with `until` as an instant, by the application's zone."""
    until = options.get("until")
    if until is None:
        return dict(options)
    return {**options, "until": read_in_zone("until", until, settings.timezone)}
