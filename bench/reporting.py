"""Tables of ratios: on the screen as they come, and in `bench/results.md` with the machine."""

from collections.abc import Mapping, Sequence
from math import inf

from bench.measuring import Duel, Figure, Numbers, Ratio, Target, ratio
from bench.results import Result, Results

__all__ = [
    "best",
    "errors",
    "grid",
    "markdown",
    "measured",
    "plain",
    "raw",
    "shown",
    "table",
    "targets",
]

TINY, SMALL, LARGE = 0.1, 10, 100
READING = (
    "A cell says how many times better Sempre is: by the best rounds, and in brackets the median of"
    " the rounds and their range. Pairs take turns (ours, theirs, ours, theirs); below each table"
    " are the best figures themselves. A limit is what the bare driver or the operating system"
    " does: there a ratio below 1 is the price of everything else."
)
NOTHING = "Nothing has been measured yet: `make bench` does."


def table(result: Result) -> list[list[str]]:
    """Return the ratios, the head first: a row for each contestant, a column for each figure."""
    head = ["", *(figure.name for figure in result.figures)]
    rows = (
        [_name(duel), *(_cell(duel, figure) for figure in result.figures)] for duel in result.duels
    )
    return [head, *rows]


def raw(result: Result) -> list[list[str]]:
    """Return the best figures of both sides, the head first."""
    rows = [["", *(", ".join(filter(None, [each.name, each.unit])) for each in result.figures)]]
    rows.append([result.ours, *_bests(result.own_rounds, result.figures)])
    for duel in result.duels:
        theirs = [numbers for _, numbers in duel.rounds]
        rows.append([duel.name, *_bests(theirs, result.figures)])
    return rows


def targets(result: Result) -> list[str]:
    """Return a line for each target that was measured."""
    lines = []
    for target in result.targets:
        found = measured(result, target)
        if found is not None:
            met = "met" if target.is_met_by(found) else "NOT met"
            sign = "x" if target.contestant else ""
            what = f"{target.figure} {target.wanted} {target.contestant}".rstrip()
            lines.append(f"{target.name}: {what}: {met}, {shown(found)}{sign}")
    return lines


def measured(result: Result, target: Target) -> float | None:
    """Return what a target is about: a ratio, or our own best figure; None without a figure."""
    figure = result.figure(target.figure)
    if not target.contestant:
        return best(result.own_rounds, figure)
    for duel in result.duels:
        if duel.name == target.contestant and (found := ratio(duel, figure)):
            return found.best
    return None


def errors(result: Result) -> list[str]:
    """Return a line for each contestant that failed."""
    return [f"{duel.name} failed: {duel.error}" for duel in result.duels if duel.error]


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
    if number == inf:
        return "infinitely"
    if number >= LARGE:
        return f"{number:,.0f}"
    if number >= TINY:
        return f"{number:.1f}" if number >= SMALL else f"{number:.2f}"
    return f"{number:.2g}"


def markdown(results: Results) -> str:
    """Return the whole report."""
    parts = ["# Results", READING if results.comparisons else NOTHING]
    parts += [_run(date, facts) for date, facts in results.runs.items()]
    for result in results.comparisons.values():
        parts += [f"## {result.title}", result.note, *_figures(result)]
        parts += [f"It could not be run again: {result.error}" if result.error else ""]
    return "\n\n".join(part for part in parts if part) + "\n"


def _figures(result: Result) -> list[str]:
    if not result.measured:
        return []
    told = "\n".join(f"- {line}" for line in (*targets(result), *errors(result)))
    return [_when(result), grid(table(result)), told, "Best figures:", grid(raw(result))]


def _run(date: str, facts: Mapping[str, str]) -> str:
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join([f"Run of {date}:", "", *lines])


def _when(result: Result) -> str:
    """Say which run it comes from, and which pairs come from an earlier one."""
    told = [f"Measured {result.last_run}."]
    for date in sorted({each.run for each in result.measured} - {result.last_run}):
        names = [each.duel.name for each in result.measured if each.run == date]
        told.append(f"Measured {date}, beside ours of then: {'; '.join(names)}.")
    return " ".join(told)


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of markdown, whose first row is the head."""
    head, *rest = [f"| {' | '.join(row)} |" for row in rows]
    line = "|---|" + "---:|" * (len(rows[0]) - 1)
    return "\n".join([head, line, *rest])


def _name(duel: Duel) -> str:
    return f"{duel.name} (limit)" if duel.role == "limit" else duel.name


def _cell(duel: Duel, figure: Figure) -> str:
    found = ratio(duel, figure)
    if found is None:
        return "failed" if duel.error else "-"
    return f"{_spread(found)}, then failed" if duel.error else _spread(found)


def _spread(found: Ratio) -> str:
    around = f"{shown(found.median)}, {shown(found.low)}-{shown(found.high)}"
    return f"{shown(found.best)}x ({around})"


def _bests(numbers: Sequence[Numbers], figures: Sequence[Figure]) -> list[str]:
    bests = [best(numbers, figure) for figure in figures]
    return ["-" if each is None else shown(each) for each in bests]


def best(numbers: Sequence[Numbers], figure: Figure) -> float | None:
    """Return the best of some rounds by a figure; None if it is in none of them."""
    known = [each[figure.name] for each in numbers if figure.name in each]
    return (max if figure.is_rate else min)(known) if known else None
