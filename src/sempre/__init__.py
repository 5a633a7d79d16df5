"""Sempre: recurring jobs that cannot be lost."""

from sempre.grids import Cron, Every, Grid

__all__ = ["Cron", "Every", "Grid"]
