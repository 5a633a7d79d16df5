"""Tables of ratios: on the screen as they come, and in `bench/results.md` with the machine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.measuring import Comparison, Duel, Figure, Numbers, Ratio, Target, ratio

__all__ = ["Result", "markdown", "table", "targets"]

SMALL, LARGE = 10, 100
READING = (
    "A cell says how many times better Sempre is: by the best rounds, and in brackets the median of"
    " the rounds and their range. Pairs take turns (ours, theirs, ours, theirs); below each table"
    " are the best figures themselves. A limit is what the bare driver or the operating system"
    " does: there a ratio below 1 is the price of everything else."
)


@dataclass(frozen=True)
class Result:
    """A comparison and what came out of it."""

    name: str
    comparison: Comparison
    duels: Sequence[Duel]


def table(result: Result) -> list[list[str]]:
    """Return the ratios, the head first: a row for each contestant, a column for each figure."""
    figures = result.comparison.figures
    head = ["", *(figure.name for figure in figures)]
    rows = ([_name(duel), *(_cell(duel, figure) for figure in figures)] for duel in result.duels)
    return [head, *rows]


def raw(result: Result) -> list[list[str]]:
    """Return the best figures of both sides, the head first."""
    figures = result.comparison.figures
    rows = [["", *(f"{figure.name}, {figure.unit}" for figure in figures)]]
    everyone = [ours for duel in result.duels for ours, _ in duel.rounds]
    rows.append([result.comparison.ours.name, *_bests(everyone, figures)])
    for duel in result.duels:
        theirs = [numbers for _, numbers in duel.rounds]
        rows.append([duel.contestant.name, *_bests(theirs, figures)])
    return rows


def targets(result: Result) -> list[str]:
    """Return a line for each target that was measured."""
    lines = []
    for target in result.comparison.targets:
        found = _measured(result, target)
        if found is not None:
            met = "met" if target.is_met_by(found) else "NOT met"
            sign = "x" if target.contestant else ""
            what = f"{target.figure} {target.wanted} {target.contestant}".rstrip()
            lines.append(f"{target.name}: {what}: {met}, {shown(found)}{sign}")
    return lines


def _measured(result: Result, target: Target) -> float | None:
    """Return what a target is about: a ratio, or our own best figure."""
    figure = {each.name: each for each in result.comparison.figures}[target.figure]
    if not target.contestant:
        return _best([ours for duel in result.duels for ours, _ in duel.rounds], figure)
    for duel in result.duels:
        if duel.contestant.name == target.contestant and (found := ratio(duel, figure)):
            return found.best
    return None


def errors(result: Result) -> list[str]:
    """Return a line for each contestant that failed."""
    return [f"{duel.contestant.name} failed: {duel.error}" for duel in result.duels if duel.error]


def plain(rows: Sequence[Sequence[str]]) -> str:
    """Return a table for the screen."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def shown(number: float) -> str:
    """Return a number with as many digits as it deserves."""
    if number >= LARGE:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= SMALL else f"{number:.2f}"


def markdown(results: Iterable[Result], machine: Mapping[str, str], *, how: str) -> str:
    """Return the whole report."""
    parts = [
        "# Results",
        f"Written by `{how}`. {READING}",
        "\n".join(f"- {name}: {value}" for name, value in machine.items()),
    ]
    for result in results:
        parts += [f"## {result.comparison.title}", result.comparison.note, _grid(table(result))]
        parts += ["\n".join(f"- {line}" for line in (*targets(result), *errors(result)))]
        parts += ["Best figures:", _grid(raw(result))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _grid(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = [f"| {' | '.join(row)} |" for row in rows]
    line = "|---|" + "---:|" * (len(rows[0]) - 1)
    return "\n".join([head, line, *rest])


def _name(duel: Duel) -> str:
    return (
        f"{duel.contestant.name} (limit)"
        if duel.contestant.role == "limit"
        else duel.contestant.name
    )


def _cell(duel: Duel, figure: Figure) -> str:
    found = ratio(duel, figure)
    if found is None:
        return "failed" if duel.error else "-"
    return _spread(found)


def _spread(found: Ratio) -> str:
    around = f"{shown(found.median)}, {shown(found.low)}-{shown(found.high)}"
    return f"{shown(found.best)}x ({around})"


def _bests(numbers: Sequence[Numbers], figures: Sequence[Figure]) -> list[str]:
    bests = [_best(numbers, figure) for figure in figures]
    return ["-" if best is None else shown(best) for best in bests]


def _best(numbers: Sequence[Numbers], figure: Figure) -> float | None:
    known = [each[figure.name] for each in numbers if figure.name in each]
    return (max if figure.is_rate else min)(known) if known else None
