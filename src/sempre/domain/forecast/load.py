"""The load of a window: expected starts and concurrency, from groups of equal recurrences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from operator import add

from sempre.domain.forecast.impulses import UNIT, Impulses
from sempre.domain.forecast.recurrence import MINUTE, Recurrence, Window
from sempre.domain.forecast.slots import Slots, runs_of, slots_of
from sempre.errors import SempreError

__all__ = [
    "Curves",
    "Group",
    "LeftOut",
    "add_concurrency",
    "concurrency",
    "curves_of",
    "grouped",
    "in_runs",
    "per_minute",
]

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Group:
    """Recurrences with equal slots, durations and policies.

    Attributes:
        pattern: one of them, which stands for all.
    """

    pattern: Recurrence
    names: Sequence[str]
    slots: Slots

    @cached_property
    def width(self) -> int:
        """The seconds over which the starts of a slot are spread; at least 1."""
        jitter = self.pattern.jitter // SECOND
        return max(1, jitter if self.slots.interval is None else min(jitter, self.slots.interval))

    @cached_property
    def longest(self) -> int:
        """The seconds after a slot in which one of its runs may be in flight, by p95."""
        return self.width + self.pattern.seconds[1]

    def with_pattern(self, window: Window, **changes: object) -> "Group":
        """Return the group after an edit of all its schedules."""
        pattern = replace(self.pattern, **changes)  # type: ignore[arg-type]
        slots = slots_of(pattern, window) if "grid" in changes else self.slots
        return Group(pattern, self.names, slots)


@dataclass(frozen=True)
class LeftOut:
    """A schedule that a forecast cannot count, and why."""

    name: str
    reason: str


def grouped(recurrences: Iterable[Recurrence], window: Window) -> tuple[list[Group], list[LeftOut]]:
    """Return recurrences in groups of equal load, and those whose grid has no answer."""
    names: dict[tuple[object, ...], tuple[Recurrence, list[str]]] = {}
    for each in recurrences:
        names.setdefault(each.key(), (each, []))[1].append(each.name)
    groups, left_out = [], []
    for pattern, some in names.values():
        try:
            groups.append(Group(pattern, some, slots_of(pattern, window)))
        except SempreError as error:
            left_out += [LeftOut(name, str(error)) for name in some]
    return groups, left_out


@dataclass(frozen=True)
class Curves:
    """The load of a window at each second.

    Attributes:
        starts: starts, by the durations p50: they decide which slots overlap a run.
        p50: runs in flight by the durations p50.
        p95: runs in flight by the durations p95.
    """

    starts: list[int]
    p50: list[int]
    p95: list[int]


def curves_of(groups: Iterable[Group], window: Window) -> Curves:
    """Return the sum of the loads of all groups."""
    length = window.seconds
    starts, ends, p95 = Impulses(length), Impulses(length), Impulses(length)
    for group in groups:
        value, width = UNIT * len(group.names), group.width
        for first, step, count, seconds in runs_of(
            group.slots, group.pattern.seconds[0], group.pattern.overlap
        ):
            starts.add(first, step, count, value, width=width)
            ends.add(first + seconds, step, count, -value, width=width)
        add_concurrency(p95, group)
    slopes = starts.slopes()
    p50 = list(map(add, starts.levels(slopes), ends.levels()))
    return Curves(slopes, p50, p95.levels())


def add_concurrency(curve: Impulses, group: Group, sign: int = 1) -> None:
    """Add the runs in flight of a group, by p95; or subtract them."""
    value, width = sign * UNIT * len(group.names), group.width
    for first, step, count, seconds in runs_of(
        group.slots, group.pattern.seconds[1], group.pattern.overlap
    ):
        curve.add(first, step, count, value, width=width)
        curve.add(first + seconds, step, count, -value, width=width)


def concurrency(levels: Sequence[int]) -> tuple[float, ...]:
    """Return the highest level of each minute, in runs."""
    return tuple(
        in_runs(max(levels[second : second + MINUTE])) for second in range(0, len(levels), MINUTE)
    )


def per_minute(slopes: Sequence[int]) -> tuple[float, ...]:
    """Return the starts of each minute."""
    return tuple(
        in_runs(sum(slopes[second : second + MINUTE])) for second in range(0, len(slopes), MINUTE)
    )


def in_runs(value: int) -> float:
    """Return a level of a curve as a number of runs."""
    # Sums of shares such as 1/7 of a run come out a little below a whole number.
    return round(value / UNIT, 4)
