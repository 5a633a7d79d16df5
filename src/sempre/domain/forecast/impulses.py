"""Impulses: curves over the seconds of a window, kept as their second differences.

A run that starts at an unknown second of a jitter is a ramp of the load; its end is a ramp back.
A ramp is two impulses of the second difference, so that a week of runs every minute costs as
little as one run. Whole numbers keep the sums exact: what goes up comes down to zero.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["UNIT", "Impulses"]

UNIT = 2**32
"""One run, in the whole numbers of a curve: large enough to be divided by a jitter of a day."""


class Impulses:
    """The second differences of a curve over `length` seconds; seconds before 0 are summed up."""

    def __init__(self, length: int) -> None:
        """Begin with the curve that is zero everywhere."""
        self.length = length
        self._level = 0
        self._slope = 0
        self._single: defaultdict[int, int] = defaultdict(int)
        # By step: where a train of impulses begins, and where it ends with the opposite sign.
        self._trains: defaultdict[int, defaultdict[int, int]] = defaultdict(_zeros)

    def add(self, first: int, step: int, count: int, value: int) -> None:
        """Add an impulse at `first`, `first + step` and so on, as many as `count`."""
        if first < 0:
            early = min(count, (step - 1 - first) // step)
            self._slope += value * early
            self._level -= value * (early * first + step * early * (early - 1) // 2)
            first, count = first + early * step, count - early
        if count <= 0 or first >= self.length:
            return
        if count == 1:
            self._single[first] += value
            return
        seeds = self._trains[step]
        seeds[first] += value
        end = first + count * step
        if end < self.length:
            seeds[end] -= value

    def slopes(self) -> list[int]:
        """Return the first difference of the curve at each second."""
        places = [0] * self.length
        for place, value in self._single.items():
            places[place] = value
        for step, seeds in self._trains.items():
            _spread(places, step, seeds)
        if places:
            places[0] += self._slope
        return list(accumulate(places))

    def levels(self, slopes: Sequence[int] | None = None) -> list[int]:
        """Return the curve at each second, from its slopes if the caller has them."""
        known = self.slopes() if slopes is None else slopes
        return list(accumulate(known, initial=self._level))[1:]


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
