"""Sempre: recurring jobs that cannot be lost."""

from sempre.domain.policies import Retry
from sempre.errors import SempreError
from sempre.grids import Cron, Every, Grid

__all__ = ["Cron", "Every", "Grid", "Retry", "SempreError"]
