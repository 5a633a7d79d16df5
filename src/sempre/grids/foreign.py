"""Grids of other processes: kept, compared and handed on, but never asked for a slot.

A worker may read schedules whose grid class only another program registers. One of them must not
keep it from reading all the others.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sempre.errors import UnknownGrid
from sempre.grids.grid import Grid

__all__ = ["ForeignGrid", "read_grid"]


class ForeignGrid(Grid):
    """A grid whose class this process does not have, in its stored form."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        """Keep the stored form."""
        self.stored = dict(stored)

    def after(self, t: datetime) -> datetime | None:  # noqa: ARG002 - there is no answer
        """Raise UnknownGrid, so that this one schedule is left alone and reported."""
        raise UnknownGrid(str(self.stored.get("grid")), known=self._classes)

    def parameters(self) -> dict[str, Any]:
        """Return the stored form, which two equal ones share."""
        return self.stored

    def to_json(self) -> dict[str, Any]:
        """Return the stored form unchanged."""
        return self.stored


def read_grid(stored: Mapping[str, Any]) -> Grid:
    """Return the grid of a stored form, a foreign one if its class is not registered here.

    Raises:
        InvalidInput: the class is known, but refuses the parameters.
    """
    try:
        return Grid.from_json(stored)
    except UnknownGrid:
        return ForeignGrid(stored)
