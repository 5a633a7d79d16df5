"""Which pictures are drawn of the results: throughput, lateness, and how a healthy pass grows."""

from collections.abc import Sequence

from bench.drawing import Chart, Panel, Row, draw
from bench.measuring import Duel, Figure
from bench.reporting import best
from bench.results import Result, Results

__all__ = ["charts", "headings"]

LATENESS = ("p50", "p99", "max")
# Comparison: the figures to draw, and the one by which contestants are in order; none, no order.
DRAWN: dict[str, tuple[Sequence[str], str]] = {
    **dict.fromkeys(
        ("postgresql", "sqlite", "redis", "redis-store", "beanstalkd"),
        (("enqueue", "drain", "drain by 2"), "drain"),
    ),
    **dict.fromkeys(("burst-1k", "burst-10k", "burst-100k"), (LATENESS, "p99")),
    "bursting": (LATENESS, ""),
    "passes": (("time", "statements", "rows", "buffers"), ""),
}
GROUPS = {"burst": "lateness", "bursting": "growth", "passes": "growth"}


def charts(results: Results) -> dict[str, str]:
    """Return the pictures of what was measured, as SVG by the names of their files."""
    names = _drawn(results)
    return {f"{_file(name)}.svg": draw(_chart(results, name)) for name in names}


def headings(results: Results) -> dict[str, str]:
    """Return the titles of the pictures by the names of their files."""
    return {f"{_file(name)}.svg": results.comparisons[name].title for name in _drawn(results)}


def _drawn(results: Results) -> list[str]:
    known = results.comparisons
    return [name for name in DRAWN if name in known and known[name].measured]


def _file(name: str) -> str:
    return f"{GROUPS.get(name.partition('-')[0], 'throughput')}-{name}"


def _chart(results: Results, name: str) -> Chart:
    result, (wanted, order) = results.comparisons[name], DRAWN[name]
    figures = [figure for figure in result.figures if figure.name in wanted]
    panels = [Panel(figure.name, figure.unit, figure.is_rate) for figure in figures]
    own = [best(result.own_rounds, figure) for figure in figures]
    rows = [Row(result.ours, "ours", own)]
    # Without an order it is ours beside ours.
    rows += [_row(duel, figures, own=not order) for duel in _sorted(result, order)]
    return Chart(result.title, _subtitle(results, result), panels, rows)


def _row(duel: Duel, figures: Sequence[Figure], *, own: bool) -> Row:
    theirs = [numbers for _, numbers in duel.rounds]
    values = [best(theirs, figure) for figure in figures]
    failed = {"missing": "failed", "remark": ", then failed"} if duel.error else {}
    if duel.role == "limit":
        return Row(f"{duel.name} (limit)", "limit", values, **failed)
    return Row(duel.name, "ours" if own else "peer", values, **failed)


def _sorted(result: Result, order: str) -> list[Duel]:
    """Return the best first, then who failed, then the limits."""
    if not order:
        return result.duels
    figure = result.figure(order)

    def rank(duel: Duel) -> tuple[bool, bool, float]:
        found = best([theirs for _, theirs in duel.rounds], figure)
        worth = (found or 0.0) * (-1 if figure.is_rate else 1)
        return duel.role == "limit", found is None, worth

    return sorted(result.duels, key=rank)


def _subtitle(results: Results, result: Result) -> str:
    rounds = max(len(duel.rounds) for duel in result.duels)
    machine = results.runs[result.last_run].get("processor", "")
    told = [f"Best of {rounds} rounds" if rounds > 1 else "One round", machine, result.last_run]
    return "; ".join(filter(None, told))
