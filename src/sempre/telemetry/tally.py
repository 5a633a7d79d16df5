"""A tally: counters and histograms of one process, or of several whose tallies are added up.

The number of series is bounded: work is labelled by queue and job, and beyond `MOST` pairs of these
everything is counted under `other`. Schedules are never a label.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from threading import Lock

from sempre.telemetry.metric_catalog import METRICS, WORK

__all__ = ["MOST", "OTHER", "Change", "Series", "Tally"]

MOST = 100
"""The most pairs of queue and job with series of their own."""
OTHER = "other"
"""The queue and the job of all further pairs."""

Series = tuple[str, tuple[str, ...]]
"""The name of a metric and the values of its labels."""

Change = tuple[str, Sequence[str], Sequence[float]]
"""What is added to a series: its name, its labels, and numbers.

A counter has one number. A histogram has one for each bucket, one beyond the last bound, and the
sum of what was observed.
"""


class Tally:
    """Counters and histograms; safe to be used by many threads."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._lock = Lock()
        self._numbers: dict[Series, list[float]] = {}
        self._work: set[tuple[str, ...]] = set()

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Add to a counter."""
        with self._lock:
            self._of(name, labels)[0] += by

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Add an observation to a histogram; a negative one counts as zero."""
        observed = max(0.0, value)
        with self._lock:
            numbers = self._of(name, labels)
            numbers[bisect_left(METRICS[name].buckets, observed)] += 1
            numbers[-1] += observed

    def add(self, changes: Iterable[Change]) -> None:
        """Add what another tally has counted; a metric that is unknown here is left out."""
        with self._lock:
            for name, labels, numbers in changes:
                if name in METRICS:
                    mine = self._of(name, tuple(labels))
                    for place, number in enumerate(numbers[: len(mine)]):
                        mine[place] += number

    def take(self) -> list[Change]:
        """Return what was counted, and begin at zero."""
        with self._lock:
            numbers, self._numbers = self._numbers, {}
            return [(name, labels, each) for (name, labels), each in numbers.items()]

    def read(self) -> dict[Series, tuple[float, ...]]:
        """Return every series with its numbers."""
        with self._lock:
            return {series: tuple(numbers) for series, numbers in self._numbers.items()}

    def _of(self, name: str, labels: tuple[str, ...]) -> list[float]:
        metric = METRICS[name]
        if metric.labels[: len(WORK)] == WORK:
            labels = self._bounded(labels)
        numbers = self._numbers.get((name, labels))
        if numbers is None:
            size = len(metric.buckets) + 2 if metric.kind == "histogram" else 1
            numbers = self._numbers[name, labels] = [0.0] * size
        return numbers

    def _bounded(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return labels whose queue and job are `other` if too many pairs are known."""
        work = labels[: len(WORK)]
        if work not in self._work:
            if len(self._work) >= MOST:
                return (OTHER, OTHER, *labels[len(WORK) :])
            self._work.add(work)
        return labels
