"""Times Sempre beside its peers: `python -m bench`, or `make bench`.

Prints a table of ratios for each comparison as it ends. What was measured goes to
bench/results.json, and from there to bench/results.md, the plots in docs/performance and the pages
that tell of it; `--render` draws all these again without measuring.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.comparisons import COMPARISONS, QUICK
from bench.environments import CACHE, ROOT
from bench.machine import described, is_in_memory
from bench.measuring import Contestant, compare
from bench.rendering import render, report
from bench.reporting import errors, plain, table, targets
from bench.results import Measured, Results, read, write
from bench.servers import Place

RESULTS = ROOT / "bench" / "results.json"
TRIAL = CACHE / "trial.json"
REPEATED = ("full", "only", "peers", "rounds", "scale")


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return what was asked for; names that are no comparison end the program."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="the best two peers (default)")
    extent.add_argument("--full", action="store_true", help="every comparison and peer")
    extent.add_argument("--render", action="store_true", help="only draw what was measured")
    parser.add_argument("--only", default="", help=f"some of: {', '.join(COMPARISONS)}")
    parser.add_argument("--peers", default="", help="only contestants whose name has this text")
    parser.add_argument("--rounds", type=int, help="how often each pair takes turns")
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of the items")
    parser.add_argument("--data", type=Path, default=CACHE / "data", help="a folder on a disk")
    parser.add_argument("--results", type=Path, help="where the figures are kept, as JSON")
    given = parser.parse_args(words)
    given.names = [name for name in given.only.split(",") if name]
    if unknown := [name for name in given.names if name not in COMPARISONS]:
        parser.error(f"no comparison is called {', '.join(unknown)}; see --help")
    given.names = given.names or list(COMPARISONS if given.full else QUICK)
    # A part of the items shows that it works, and is nothing to quote.
    given.results = given.results or (RESULTS if given.scale == 1 else TRIAL)
    return given


def command_of(given: argparse.Namespace) -> str:
    """Return how to repeat a run; where its files lie is left out, as it tells of a machine."""
    said = {name: getattr(given, name) for name in REPEATED}
    said |= {"scale": None if given.scale == 1 else given.scale}
    words = [
        f"--{name}" if value is True else f"--{name} {value}"
        for name, value in said.items()
        if value
    ]
    return " ".join(["python -m bench", *words])


class Book:
    """The figures so far, which are written and rendered whenever there are more."""

    def __init__(self, path: Path, command: str, facts: dict[str, str]) -> None:
        self._path = path
        self.run = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        self.results = read(path).with_run(self.run, {"command": command, **facts})

    def keep(self, results: Results) -> None:
        """Write them; a run that is interrupted leaves what it has."""
        self.results = results
        known = results.ordered(list(COMPARISONS))
        write(known, self._path)
        draw(known, self._path)


def draw(results: Results, path: Path) -> None:
    """Render the report; of the project's own results the plots and pages too."""
    if path == RESULTS:
        render(results, ROOT)
    else:
        report(results, path)


def run(name: str, given: argparse.Namespace, book: Book) -> None:
    """Run a comparison and print its table; one that cannot be run is told, and ends no other."""
    try:
        with Place(given.data) as place:
            _run(name, given, book, place)
    except Exception as error:  # noqa: BLE001 - hours of other comparisons are still to come
        print(f"{name} cannot be run: {error!r}", file=sys.stderr)
        book.keep(book.results.with_error(name, _anonymous(repr(error))))


def _run(name: str, given: argparse.Namespace, book: Book, place: Place) -> None:
    comparison = COMPARISONS[name](place)
    print(f"\n{comparison.title}", flush=True)
    extent = {"scale": given.scale, "rounds": given.rounds}
    others = [each for each in comparison.others if _is_chosen(each, given)]
    for duel in compare(comparison, others=others, **extent, told=_progress):
        done = Measured(replace(duel, error=_anonymous(duel.error)), book.run)
        book.keep(book.results.with_duel(name, comparison, done))
    result = book.results.comparisons.get(name)
    if result is None:
        return
    print(plain(table(result)))
    for line in (*targets(result), *errors(result)):
        print(line)


def _is_chosen(contestant: Contestant, given: argparse.Namespace) -> bool:
    is_asked_for = given.peers.lower() in contestant.name.lower()
    return is_asked_for and (given.full or bool(given.peers) or contestant.quick)


def _anonymous(text: str) -> str:
    """Return what somebody said without where this machine keeps its files."""
    return text.replace(str(ROOT), ".").replace(str(Path.home()), "~").replace("\n", " ")


def _progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def main() -> None:
    given = read_arguments(sys.argv[1:])
    if given.render:
        draw(read(given.results), given.results)
        return
    # As an interrupt from the keyboard: whatever was started has to be ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given.data.mkdir(parents=True, exist_ok=True)
    if is_in_memory(given.data):
        sys.exit(f"{given.data} lies in memory: choose a folder on a disk by --data")
    book = Book(given.results, command_of(given), described(given.data))
    try:
        for name in given.names:
            run(name, given, book)
    except KeyboardInterrupt:
        sys.exit(f"Interrupted; what had ended is in {given.results}.")
    print(f"\nWritten to {given.results}")


if __name__ == "__main__":
    main()
