"""Load peaks: the busiest minute of some schedules."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice

from sempre.domain.preview.futures import MOST, Future

__all__ = ["Peak", "peak_of"]


@dataclass(frozen=True)
class Peak:
    """The minute in which the most slots lie.

    Attributes:
        at: the begin of the minute; the first of several equal ones.
        count: the number of slots in it.
        until: the last slot that was counted, if there are too many for all of the window.
    """

    at: datetime
    count: int
    until: datetime | None = None


def peak_of(futures: Iterable[Future]) -> Peak | None:
    """Return the busiest minute of some futures; None without a slot. Jitter is left out."""
    slots = list(islice(merge(*futures), MOST))
    minutes = Counter(slot.replace(second=0, microsecond=0) for slot in slots)
    if not minutes:
        return None
    at, count = min(minutes.items(), key=lambda each: (-each[1], each[0]))
    return Peak(at, count, slots[-1] if len(slots) == MOST else None)
