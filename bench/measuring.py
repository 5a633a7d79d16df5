"""What a comparison is, and how it is measured: ours and a peer by turns, each checked.

A contestant is a function that does so many items, sees for itself that all of them were done, and
returns its figures. One that did less raises `Failed`: that is reported, and is never a number.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median
from typing import Literal

__all__ = [
    "Comparison",
    "Contestant",
    "Duel",
    "Failed",
    "Figure",
    "Numbers",
    "Ratio",
    "Role",
    "Target",
    "check_count",
    "compare",
    "ratio",
    "scaled",
]

Numbers = dict[str, float]
Role = Literal["peer", "limit"]
FEWEST = 10


class Failed(Exception):
    """A contestant did not do what it was asked to do; the message says what is missing."""


@dataclass(frozen=True)
class Figure:
    """Something that is measured: a rate, of which more is better, or a cost."""

    name: str
    unit: str
    is_rate: bool = True


@dataclass(frozen=True)
class Contestant:
    """One side of a comparison.

    Attributes:
        name: with its version or setting, as the table shows it.
        run: does so many items and returns its figures; those it has no answer for may be missing.
        count: how many items suit it; a slow one is asked for fewer.
        least: with fewer it would measure nothing, whatever the scale.
        role: a limit is no peer but what the hardware or the bare driver does.
        quick: whether it takes part in the quick mode.
    """

    name: str
    run: Callable[[int], Numbers]
    count: int
    role: Role = "peer"
    quick: bool = True
    least: int = FEWEST


@dataclass(frozen=True)
class Target:
    """What the ratio of a figure beside a contestant has to be; without one, our figure itself."""

    name: str
    contestant: str
    figure: str
    at_least: float = 0.0
    at_most: float | None = None

    @property
    def wanted(self) -> str:
        """What is asked for, in words."""
        sign = "x" if self.contestant else ""
        if self.at_most is not None:
            return f"at most {self.at_most:g}{sign}"
        return f"at least {self.at_least:g}{sign}"

    def is_met_by(self, found: float) -> bool:
        """Tell whether a ratio is what was asked for."""
        return self.margin(found) >= 1

    def margin(self, found: float) -> float:
        """Return how many times better than asked for it is; below 1 it is not met."""
        if self.at_most is not None:
            return self.at_most / found if found else inf
        return found / self.at_least if self.at_least else inf


@dataclass(frozen=True)
class Comparison:
    """Ours beside others, by some figures.

    Attributes:
        others: peers and limits, in the order of the table.
        note: what a reader has to know about the conditions.
        rounds: how often each pair takes turns.
    """

    title: str
    figures: Sequence[Figure]
    ours: Contestant
    others: Sequence[Contestant]
    targets: Sequence[Target] = ()
    note: str = ""
    rounds: int = 3


@dataclass(frozen=True)
class Duel:
    """The rounds of ours and one other, and why there are no more, if there are fewer."""

    name: str
    role: Role = "peer"
    rounds: Sequence[tuple[Numbers, Numbers]] = ()
    error: str = ""


@dataclass(frozen=True)
class Ratio:
    """How many times better ours is: by the best rounds, in the median, and from-to."""

    best: float
    median: float
    low: float
    high: float


def scaled(contestant: Contestant, scale: float) -> int:
    """Return how many items to do; never so few that nothing is measured."""
    return max(min(contestant.count, contestant.least), round(contestant.count * scale))


def check_count(done: int, wanted: int, what: str = "jobs") -> None:
    """Refuse a run that did not do exactly what it was asked to do."""
    if done != wanted:
        raise Failed(f"{done:,} of {wanted:,} {what}")


def compare(
    comparison: Comparison,
    *,
    others: Iterable[Contestant],
    scale: float = 1.0,
    rounds: int | None = None,
    told: Callable[[str], None] = lambda _text: None,
) -> Iterator[Duel]:
    """Let ours and each of the others take turns; a failure ends that pair alone.

    Pairs are given as they end, so that a run which is interrupted keeps those that had ended.
    """
    chosen = replace(comparison, rounds=rounds or comparison.rounds)
    return (_duel(chosen, other, scale, told) for other in others)


def _duel(
    comparison: Comparison, other: Contestant, scale: float, told: Callable[[str], None]
) -> Duel:
    rounds, error = [], ""
    for number in range(1, comparison.rounds + 1):
        told(f"{other.name}, round {number} of {comparison.rounds}")
        try:
            ours = _run(comparison.ours, scale)
            rounds.append((ours, _run(other, scale)))
        except Failed as failure:
            error = str(failure)
            break
    return Duel(other.name, other.role, rounds, error)


def _run(contestant: Contestant, scale: float) -> Numbers:
    try:
        return contestant.run(scaled(contestant, scale))
    except Failed as failure:
        raise Failed(f"{contestant.name}: {failure}") from failure
    except Exception as error:
        # Whatever a peer's code or server raises is its own failure, not the run's.
        raise Failed(f"{contestant.name}: {error!r}") from error


def ratio(duel: Duel, figure: Figure) -> Ratio | None:
    """Return how many times better ours is by a figure; None if one of the two has none."""
    pairs = [
        (ours[figure.name], theirs[figure.name])
        for ours, theirs in duel.rounds
        if figure.name in ours and figure.name in theirs
    ]
    if not pairs:
        return None
    each = [_better(ours, theirs, figure) for ours, theirs in pairs]
    choose = max if figure.is_rate else min
    best_ours, best_theirs = (choose(column) for column in zip(*pairs, strict=True))
    best = _better(best_ours, best_theirs, figure)
    return Ratio(best, median(each), min(each), max(each))


def _better(ours: float, theirs: float, figure: Figure) -> float:
    """Return how many times better ours is; a cost of nothing is infinitely better than one."""
    more, less = (ours, theirs) if figure.is_rate else (theirs, ours)
    if less:
        return more / less
    return inf if more else 1.0
