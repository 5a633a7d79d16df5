"""What is done to fleets, and where: `scenarios.toml`, written as a page.

python -m tests.integration.fleet.scenarios      # writes docs/chaos.md anew
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.proofs import ROOT

__all__ = ["PAGE", "page_of", "scenarios"]

DATA = Path(__file__).with_name("scenarios.toml")
PAGE = ROOT / "docs" / "chaos.md"
HEAD = """\
# What is done to fleets

`make chaos` starts fleets of real workers on every store and broker, with servers of their own, and
harms them. Each job appends to a log when it begins and ends, and writes to a resource that checks
fences. A judge that asks no table of ours counts the slots from the grids and compares: what was
lost, early, started twice or done twice, how late starts were, and how long after the end of each
fault the last start was that it had disturbed. It prints two tables of that.

**Nothing may be lost, nothing early, no guarded effect done twice,** whatever happens. Without a
fault that takes work away from somebody nothing may start twice either.

The quick ones of these tests are part of `make test`. `sempre drill` does the like to your own
staging: [Hold a game day](how-to/game-day.md). [What can go wrong](reliability.md) lists single
races and failures, and `make simulate` makes up worlds of them.

This page is written by `python -m tests.integration.fleet.scenarios`. The numbers are those of the
plan that Sempre was designed by.

| | what is done | what has to hold | where |
|---|---|---|---|
"""


def scenarios() -> dict[int, Mapping[str, Any]]:
    """Return every scenario by its number."""
    return {int(number): each for number, each in tomllib.loads(DATA.read_text()).items()}


def page_of(table: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the page that shows a table."""
    return HEAD + "".join(_row(number, each) for number, each in table.items())


def _row(number: int, scenario: Mapping[str, Any]) -> str:
    how = f" ({scenario['how']})" if "how" in scenario else ""
    links = [_link(each) for each in scenario["tests"]]
    missing = [f"*not yet: {scenario['not_yet']}*"] if "not_yet" in scenario else []
    where = "; ".join([*links, *missing])
    return f"| {number} | {scenario['fault']}{how} | {scenario['keeps']} | {where} |\n"


def _link(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{path})"


if __name__ == "__main__":
    PAGE.write_text(page_of(scenarios()))
