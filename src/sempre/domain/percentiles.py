"""Percentiles of lengths of time, by nearest rank: the answer is always one of the values."""

from collections.abc import Sequence
from datetime import timedelta
from math import ceil

__all__ = ["percentile"]


def percentile(lengths: Sequence[timedelta], percent: int) -> timedelta | None:
    """Return the length that `percent` of 100 lengths do not exceed; None without a length."""
    if not lengths:
        return None
    return sorted(lengths)[max(ceil(len(lengths) * percent / 100), 1) - 1]
