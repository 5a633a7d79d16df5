"""Grids: pure rules that yield instants. Nothing here reads a clock or does I/O but for tzdata."""

from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid

__all__ = ["Cron", "Every", "Grid"]
