"""Counts what was checked, and says so: shown by `pytest -s` and by `-rP`."""

import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from tests.property.grids.oracles import zone_content, zone_names

SHARDS = 16


class Tally:
    """Counts things once each (zones, changes, texts) and numbers of things (grids, instants)."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.things: defaultdict[str, set[Hashable]] = defaultdict(set)
        self.numbers: Counter[str] = Counter()

    def add(self, kind: str, things: Iterable[Hashable]) -> None:
        self.things[kind].update(things)

    def count(self, kind: str, number: int) -> None:
        self.numbers[kind] += number

    def report(self) -> None:
        """Write what this process has checked so far; with one process the last line is all."""
        counts = {kind: len(things) for kind, things in self.things.items()} | self.numbers
        told = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
        sys.stdout.write(f"\n{self.title}, checked so far: {told}\n")


def zones_of_shard(shard: int) -> dict[str, list[str]]:
    """Return the zones of one shard: one name for each content, with all names of that content."""
    names: dict[bytes, list[str]] = {}
    for name in zone_names():
        names.setdefault(zone_content(name), []).append(name)
    groups = sorted(names.values())
    return {group[0]: group for group in groups[shard::SHARDS]}
