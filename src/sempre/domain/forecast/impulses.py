"""Impulses: curves over the seconds of a window, kept as their differences.

A run raises the load at its start and lowers it at its end: two impulses of the first difference. A
start at an unknown second of a jitter is a ramp: two impulses of the second difference. Evenly
spaced runs are trains of impulses, so that a week of runs every minute costs as little as one run.
Whole numbers keep the sums exact: what goes up comes down to zero.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from operator import add

__all__ = ["UNIT", "Impulses"]

UNIT = 2**32
"""One run, in the whole numbers of a curve: large enough to be divided by a jitter of a day."""


class Impulses:
    """The differences of a curve over `length` seconds; seconds before 0 are summed up."""

    def __init__(self, length: int) -> None:
        """Begin with the curve that is zero everywhere."""
        self._level = 0
        self._slope = 0
        self._steps = _Trains(length)
        self._ramps = _Trains(length)

    def add(self, first: int, step: int, count: int, value: int, *, width: int = 1) -> None:
        """Raise the curve at `first`, `first + step` and so on, as often as `count`.

        Args:
            first: a second of the window, which may lie before it.
            step: the seconds from one to the next.
            count: how often.
            value: by how much; negative to lower the curve.
            width: the seconds over which each rise is spread evenly.
        """
        if width == 1:
            early, _ = self._steps.add(first, step, count, value)
            self._level += value * early
            return
        share = value // width if value >= 0 else -(-value // width)
        for place, slope in ((first, share), (first + width, -share)):
            early, distance = self._ramps.add(place, step, count, slope)
            self._slope += slope * early
            self._level += slope * distance

    def slopes(self) -> list[int]:
        """Return the first difference of the curve at each second."""
        steps = self._steps.places()
        if not (self._ramps.has_any or self._slope):
            return steps
        ramps = accumulate(self._ramps.places(), initial=self._slope)
        next(ramps)
        return list(map(add, steps, ramps))

    def levels(self, slopes: Sequence[int] | None = None) -> list[int]:
        """Return the curve at each second, from its slopes if the caller has them."""
        known = self.slopes() if slopes is None else slopes
        levels = accumulate(known, initial=self._level)
        next(levels)
        return list(levels)


class _Trains:
    """Impulses at single seconds and at evenly spaced ones."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._single: defaultdict[int, int] = defaultdict(int)
        # By step: where a train of impulses begins, and where it ends with the opposite sign.
        self._trains: defaultdict[int, defaultdict[int, int]] = defaultdict(_zeros)

    @property
    def has_any(self) -> bool:
        return bool(self._single or self._trains)

    def add(self, first: int, step: int, count: int, value: int) -> tuple[int, int]:
        """Add impulses; return how many lie before second 0, and the sum of their distances."""
        early, distance = 0, 0
        if first < 0:
            early = min(count, (step - 1 - first) // step)
            distance = -(early * first + step * early * (early - 1) // 2)
            first, count = first + early * step, count - early
        if count > 1 and first < self.length:
            seeds = self._trains[step]
            seeds[first] += value
            end = first + count * step
            if end < self.length:
                seeds[end] -= value
        elif count == 1 and first < self.length:
            self._single[first] += value
        return early, distance

    def places(self) -> list[int]:
        """Return the sum of the impulses at each second."""
        places = [0] * self.length
        for place, value in self._single.items():
            places[place] = value
        for step, seeds in self._trains.items():
            _spread(places, step, seeds)
        return places


def _zeros() -> defaultdict[int, int]:
    return defaultdict(int)


def _spread(places: list[int], step: int, seeds: dict[int, int]) -> None:
    """Add the impulses of all trains of one step."""
    length = len(places)
    known = {first: value for first, value in seeds.items() if value}
    if sum((length - first) // step + 1 for first in known) <= length:
        for first, value in known.items():
            for place in range(first, length, step):
                places[place] += value
        return
    train = [0] * length
    for first, value in known.items():
        train[first] = value
    for place in range(step, length):
        train[place] += train[place - step]
    for place, value in enumerate(train):
        places[place] += value
