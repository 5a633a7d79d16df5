"""Counts runs per second of the process executor beside a bare fork and wait, in one process.

Rounds are interleaved (bare, ours, bare, ours, ...), so that a busy machine slows both. The bare
child does nothing at all; ours calls a job, reports its result, and has a group, a time limit and
a way to be cancelled. Target T13: at least 80 % of bare.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from queue import SimpleQueue
from statistics import median
from time import perf_counter

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.executors.process import ProcessExecutor
from sempre.ports.executor import Ended, Outcome, Run, Task

TARGET = 0.8
SLOT = datetime(2026, 5, 4, tzinfo=UTC)
NUMBERS = count(1)


def job() -> int:
    return 1


TASK = Task("job", job, "process")


@dataclass(frozen=True)
class Figure:
    """What one way of running reached, and beside what the bare one did in the same rounds."""

    name: str
    runs_per_second: float
    bare_per_second: float
    ratio_of_best: float
    median_ratio: float


def bare(runs: int) -> None:
    for _ in range(runs):
        if (pid := os.fork()) == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def a_run() -> Run:
    execution = Execution(
        id=f"{next(NUMBERS)}",
        kind=Kind.SCHEDULED,
        state=State.RUNNING,
        run_at=SLOT,
        due_at=SLOT,
        created_at=SLOT,
        snapshot=Snapshot(name="bench", job="job"),
    )
    return Run(execution, TASK, timedelta(hours=12))


def in_flight(executor: ProcessExecutor, width: int) -> Callable[[int], None]:
    def ours(runs: int) -> None:
        told: SimpleQueue[Outcome] = SimpleQueue()

        def done(_run: Run, outcome: Outcome) -> None:
            told.put(outcome)

        for _ in range(width):
            executor.submit(a_run(), done)
        for number in range(runs):
            outcome = told.get()
            if outcome.ended is not Ended.SUCCEEDED:
                raise SystemExit(f"a run {outcome.ended}: {outcome.error}")
            if number < runs - width:
                executor.submit(a_run(), done)

    return ours


def rate(way: Callable[[int], None], runs: int) -> float:
    began = perf_counter()
    way(runs)
    return runs / (perf_counter() - began)


def measured(name: str, way: Callable[[int], None], *, rounds: int, runs: int) -> Figure:
    pairs = [(rate(bare, runs), rate(way, runs)) for _ in range(rounds)]
    best_bare, best_ours = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    ratios = [ours / theirs for theirs, ours in pairs]
    return Figure(name, best_ours, best_bare, best_ours / best_bare, median(ratios))


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--quick", action="store_true", help="fewer rounds, noisier")
    reader.add_argument("--json", action="store_true", help="for machines")
    chosen = reader.parse_args()
    rounds, runs = (4, 100) if chosen.quick else (12, 200)
    executor = ProcessExecutor({"job": TASK}.__getitem__)
    executor.start()
    figures = [
        measured(f"{width} at a time", in_flight(executor, width), rounds=rounds, runs=runs)
        for width in (1, 2, 4, 8)
    ]
    executor.stop()
    if chosen.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
        return
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs; runs per second\n")
    print(f"{'':14} {'ours':>6} {'bare':>6}  best/best  (median of rounds)")
    for each in figures:
        rates = f"{each.runs_per_second:6.0f} {each.bare_per_second:6.0f}"
        print(f"{each.name:14} {rates}  {each.ratio_of_best:9.2f}  ({each.median_ratio:.2f})")
    # Like for like, and chosen before the measurement: the bare loop has one child at a time too.
    alone = figures[0].median_ratio
    print(f"\nT13: at least {TARGET:.0%} of bare, one at a time; measured {alone:.0%}")


if __name__ == "__main__":
    main()
