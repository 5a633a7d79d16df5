"""Unknown grids: stored grids that this process cannot build, kept unchanged and compared.

A worker may read schedules whose grid class only another program registers, or whose parameters
only a newer release or a newer tzdata understands. Such a schedule must not prevent the worker from
reading the others.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sempre.errors import UnknownGrid
from sempre.grids.grid import Grid

__all__ = ["ForeignGrid", "read_grid"]


class ForeignGrid(Grid):
    """A grid that this process cannot build, in its stored form.

    Attributes:
        refusal: the error that its class raised, if this process has the class.
    """

    __slots__ = ("refusal", "stored")

    def __init__(self, stored: Mapping[str, Any], refusal: Exception | None = None) -> None:
        """Keep the stored form, and the error of the class, if this process has the class."""
        self.stored = dict(stored)
        self.refusal = refusal

    def after(self, t: datetime) -> datetime | None:  # noqa: ARG002 - there is no answer
        """Raise UnknownGrid: only this schedule is left alone and reported."""
        raise self.error

    @property
    def error(self) -> UnknownGrid:
        """Why this process has no such grid."""
        name = str(self.stored.get("grid"))
        return UnknownGrid(name, known=self._classes, refusal=self.refusal)

    def explain(self) -> str:
        """Say that this process does not know the rule."""
        return f"by a rule {self.stored.get('grid')} that is unknown here"

    def parameters(self) -> dict[str, Any]:
        """Return the stored form, by which two such grids are compared."""
        return self.stored

    def __repr__(self) -> str:
        """Show the stored form."""
        return f"ForeignGrid({self.stored!r})"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form unchanged."""
        return self.stored


def read_grid(stored: Mapping[str, Any]) -> Grid:
    """Return the grid of a stored form; a ForeignGrid if this process cannot build the grid."""
    try:
        return Grid.from_json(stored)
    except UnknownGrid:
        return ForeignGrid(stored)
    except Exception as refusal:
        if not isinstance(stored, Mapping) or not isinstance(stored.get("grid"), str):
            raise
        return ForeignGrid(stored, refusal)
