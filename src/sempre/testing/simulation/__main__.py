"""Runs simulations: one seed, or as many seeds as fit into a time, with a table at the end."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from math import inf
from multiprocessing import Pool

from sempre.clock import SystemClock
from sempre.testing.simulation.mercy import Mercy
from sempre.testing.simulation.running import Simulation
from sempre.testing.simulation.scenes import NAMED
from sempre.testing.simulation.trace import KEPT
from sempre.testing.simulation.world import STEPS, Failure, Summary, simulate

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Simulate by the command line; return 0 if no promise was broken, and 1 otherwise."""
    given = _read(arguments)
    if given.seed is not None:
        return _replay(given)
    return _search(given)


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sempre.testing.simulation")
    parser.add_argument("--seed", type=int, help="run this one alone, and show its trace")
    parser.add_argument("--steps", type=int, default=STEPS, help="of each run, at least")
    parser.add_argument("--lines", type=int, default=KEPT, help="of the trace of a failure")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to search")
    parser.add_argument("--first", type=int, default=0, help="the seed to begin with")
    parser.add_argument("--seeds", type=int, help="how many, instead of for so long")
    parser.add_argument("--processes", type=int, default=2, help="how many at once")
    parser.add_argument("--world", choices=sorted(NAMED), help="not random ones, but this one")
    parser.add_argument("--without", default="", help="kinds of faults, which do not happen")
    parser.add_argument("--only", default="", help="names of faults, the others do not happen")
    return parser.parse_args(arguments)


def _replay(given: argparse.Namespace) -> int:
    mercy = _mercy(given)
    try:
        told = {"steps": given.steps, "lines": given.lines, "scene": NAMED.get(given.world)}
        summary = simulate(given.seed, mercy=mercy, **told)
    except Failure as failure:
        print(failure)  # noqa: T201 - the command reports on stdout
        return 1
    print(_table([summary], 0.0))  # noqa: T201
    return 0


def _mercy(given: argparse.Namespace) -> Mercy:
    without = frozenset(filter(None, given.without.split(",")))
    only = frozenset(given.only.split(",")) if given.only else None
    return Mercy(without, only)


def _search(given: argparse.Namespace) -> int:
    clock, summaries, failures = SystemClock(), [], []
    began = clock.elapsed()
    for found in _results(given, clock, began + given.seconds):
        if isinstance(found, Summary):
            summaries.append(found)
        else:
            failures.append(found)
            print(found, file=sys.stderr)  # noqa: T201
    print(_table(summaries, clock.elapsed() - began))  # noqa: T201
    print(f"{len(failures)} seeds broke a promise")  # noqa: T201
    return 1 if failures else 0


def _results(given: argparse.Namespace, clock: SystemClock, until: float) -> Iterator[object]:
    numbers: Iterator[int] = count(given.first)
    if given.seeds is not None:
        numbers, until = iter(range(given.first, given.first + given.seeds)), inf
    seeds = ((seed, given.steps, given.world) for seed in numbers)
    in_time = iter(lambda: next(seeds, None) if clock.elapsed() < until else None, None)
    with Pool(given.processes) as pool:
        size = range(4 * given.processes)
        batches = iter(lambda: [each for _, each in zip(size, in_time, strict=False)], [])
        for batch in batches:
            yield from pool.imap_unordered(_one, batch)


def _one(given: tuple[int, int, str | None]) -> Summary | str:
    seed, steps, world = given
    try:
        return Simulation(seed, steps, world or "").run()
    except Failure as failure:
        return f"seed {seed}\n{failure}"


def _table(summaries: list[Summary], seconds: float) -> str:
    counts: Counter[str] = Counter()
    for each in summaries:
        counts.update(each.counts)
    lines = {
        "seeds": len(summaries),
        "steps": sum(each.steps for each in summaries),
        "store operations": sum(each.operations for each in summaries),
        "simulated hours": round(sum(each.seconds for each in summaries) / 3600, 1),
        "slots decided": sum(each.slots for each in summaries),
        **dict(sorted(counts.items())),
    }
    if seconds:
        lines["steps a second"] = round(lines["steps"] / seconds)
        lines["hours a minute"] = round(lines["simulated hours"] * 60 / seconds)
    return "\n".join(f"{name:<20}{number:>14,}" for name, number in lines.items())


if __name__ == "__main__":
    sys.exit(main())
