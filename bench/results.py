"""What was measured, as data: `bench/results.json`, from which every page and plot is rendered.

A later run of some comparisons replaces only what it measured again: each pair keeps the run that
it comes from, with its date, its command, the machine and the versions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.measuring import Comparison, Duel, Figure, Numbers, Target

__all__ = ["Measured", "Result", "Results", "read", "write"]

DIGITS = 6


@dataclass(frozen=True)
class Measured:
    """A pair of contestants and the run in which it was measured, by the run's date."""

    duel: Duel
    run: str


@dataclass(frozen=True)
class Result:
    """A comparison and what came out of it so far.

    Attributes:
        ours: what our side is called.
        error: why it could not be run at all when it was last tried; empty if it could.
    """

    title: str
    figures: Sequence[Figure] = ()
    ours: str = ""
    targets: Sequence[Target] = ()
    note: str = ""
    measured: Sequence[Measured] = ()
    error: str = ""

    @property
    def duels(self) -> list[Duel]:
        """The pairs, in the order of the table."""
        return [each.duel for each in self.measured]

    @property
    def last_run(self) -> str:
        """The date of the newest run that has measured something of it."""
        return max((each.run for each in self.measured), default="")

    @property
    def own_rounds(self) -> list[Numbers]:
        """The figures of our side, of the newest run alone: an older one had older code."""
        newest = [each.duel for each in self.measured if each.run == self.last_run]
        return [ours for duel in newest for ours, _ in duel.rounds]

    def figure(self, name: str) -> Figure:
        """Return the figure of that name."""
        return {each.name: each for each in self.figures}[name]


@dataclass(frozen=True)
class Results:
    """All comparisons by name, and the runs they come from by date."""

    runs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    comparisons: Mapping[str, Result] = field(default_factory=dict)

    def with_duel(self, name: str, comparison: Comparison, measured: Measured) -> "Results":
        """Return these with one pair more, or anew; all others stay as they are."""
        old = self.comparisons.get(name, Result("")).measured
        by_name = {each.duel.name: each for each in (*old, _rounded(measured))}
        kept = tuple(by_name[other.name] for other in comparison.others if other.name in by_name)
        result = Result(
            comparison.title,
            tuple(comparison.figures),
            comparison.ours.name,
            tuple(comparison.targets),
            comparison.note,
            kept,
        )
        return self._with(name, result)

    def with_error(self, name: str, error: str) -> "Results":
        """Return these with the reason why a comparison could not be run; its figures stay."""
        return self._with(name, replace(self.comparisons.get(name, Result(name)), error=error))

    def with_run(self, date: str, facts: Mapping[str, str]) -> "Results":
        """Return these with a run that has measured nothing yet."""
        return replace(self, runs={**self.runs, date: facts})

    def ordered(self, names: Sequence[str]) -> "Results":
        """Return these in the order of names; a comparison that is no more is left out."""
        kept = {name: self.comparisons[name] for name in names if name in self.comparisons}
        used = {each.run for result in kept.values() for each in result.measured}
        runs = {date: facts for date, facts in sorted(self.runs.items()) if date in used}
        return Results(runs, kept)

    def _with(self, name: str, result: Result) -> "Results":
        return replace(self, comparisons={**self.comparisons, name: result})


def read(path: Path) -> Results:
    """Return what a file holds; of one that does not exist yet, nothing."""
    if not path.exists():
        return Results()
    told = json.loads(path.read_text())
    comparisons = {name: _result(each) for name, each in told["comparisons"].items()}
    return Results(told["runs"], comparisons)


def write(results: Results, path: Path) -> None:
    """Write them so that reading gives the same; a file is replaced as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(asdict(results), indent=1, allow_nan=False) + "\n")
    beside.replace(path)


def _result(told: Mapping[str, Any]) -> Result:
    figures = tuple(Figure(**each) for each in told["figures"])
    targets = tuple(Target(**each) for each in told["targets"])
    measured = tuple(Measured(_duel(each["duel"]), each["run"]) for each in told["measured"])
    return Result(**{**told, "figures": figures, "targets": targets, "measured": measured})


def _duel(told: Mapping[str, Any]) -> Duel:
    rounds = tuple((ours, theirs) for ours, theirs in told["rounds"])
    return Duel(told["name"], told["role"], rounds, told["error"])


def _rounded(measured: Measured) -> Measured:
    """Return it without the digits that no measurement has."""
    rounds = tuple((_digits(ours), _digits(theirs)) for ours, theirs in measured.duel.rounds)
    return replace(measured, duel=replace(measured.duel, rounds=rounds))


def _digits(numbers: Numbers) -> Numbers:
    return {name: float(f"{number:.{DIGITS}g}") for name, number in numbers.items()}
