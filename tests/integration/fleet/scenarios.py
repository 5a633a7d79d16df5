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

`make chaos` starts fleets of real workers on every store and broker, with servers of their own,
and injects faults. Each job appends to a log when it begins and ends, and writes to a resource
that checks fences. A judge, which reads no table of Sempre, counts the slots from the grids and
compares: slots that were lost, early, started twice or done twice, how late starts were, and how
long after the end of each fault the last disturbed start came. The judge prints two tables of
these figures.

**Nothing may be lost, nothing early, no guarded effect done twice,** whatever the fault. Unless a
fault takes claimed work from a worker, nothing may start twice either.

The quick tests of this page are part of `make test`. `sempre drill` injects faults into your own
staging: [Hold a game day](how-to/game-day.md). [What can go wrong](reliability.md) lists single
races and failures, and `make simulate` combines them at random.

`python -m tests.integration.fleet.scenarios` writes this page. The numbers are those of the design
plan of Sempre.

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
