"""Times Sempre beside its peers: `python -m bench`, or `make bench`.

Prints a table of ratios for each comparison as it ends, and writes them all to bench/results.md.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.comparisons import COMPARISONS, QUICK
from bench.environments import CACHE, ROOT
from bench.machine import described, is_in_memory
from bench.measuring import Failed, compare
from bench.reporting import Result, errors, markdown, plain, table, targets
from bench.servers import Place

RESULTS = ROOT / "bench" / "results.md"


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return what was asked for; names that are no comparison end the program."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="the best two peers (default)")
    extent.add_argument("--full", action="store_true", help="every comparison and peer")
    parser.add_argument("--only", default="", help=f"some of: {', '.join(COMPARISONS)}")
    parser.add_argument("--peers", default="", help="only contestants whose name has this text")
    parser.add_argument("--rounds", type=int, help="how often each pair takes turns")
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of the items")
    parser.add_argument("--data", type=Path, default=CACHE / "data", help="a folder on a disk")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the report goes")
    given = parser.parse_args(words)
    given.names = [name for name in given.only.split(",") if name]
    if unknown := [name for name in given.names if name not in COMPARISONS]:
        parser.error(f"no comparison is called {', '.join(unknown)}; there are {parser_names()}")
    given.names = given.names or list(COMPARISONS if given.full else QUICK)
    return given


def parser_names() -> str:
    return ", ".join(COMPARISONS)


def run(name: str, given: argparse.Namespace) -> Result | None:
    """Run a comparison and print its table; None if not even its servers could be had."""
    try:
        with Place(given.data) as place:
            comparison = COMPARISONS[name](place)
            print(f"\n{comparison.title}", flush=True)
            chosen = [
                each
                for each in comparison.others
                if (given.full or each.quick) and given.peers.lower() in each.name.lower()
            ]
            extent = {"others": chosen, "scale": given.scale, "rounds": given.rounds}
            duels = compare(comparison, **extent, told=_progress)
    except Failed as failure:
        print(f"{name} cannot be run: {failure}", file=sys.stderr)
        return None
    result = Result(name, comparison, duels)
    print(plain(table(result)))
    for line in (*targets(result), *errors(result)):
        print(line)
    return result


def _progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def main() -> None:
    given = read_arguments(sys.argv[1:])
    # As an interrupt from the keyboard: whatever was started has to be ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given.data.mkdir(parents=True, exist_ok=True)
    if is_in_memory(given.data):
        sys.exit(f"{given.data} lies in memory: choose a folder on a disk by --data")
    machine = described(given.data)
    results: list[Result] = []
    how = " ".join(["python -m bench", *sys.argv[1:]])
    try:
        for name in given.names:
            result = run(name, given)
            if result is not None:
                results.append(result)
                # After each, so that a run that is interrupted leaves what it has.
                given.results.write_text(markdown(results, machine, how=how))
    except KeyboardInterrupt:
        sys.exit("Interrupted; comparisons that had ended are in the report.")
    print(f"\nWritten to {given.results}")


if __name__ == "__main__":
    main()
