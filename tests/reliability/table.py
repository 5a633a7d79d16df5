"""What can go wrong and what proves that it is taken care of: `items.toml`, written as a page.

python -m tests.reliability.table      # writes docs/reliability.md anew
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.proofs import ROOT

__all__ = ["PAGE", "Item", "items", "page_of"]

DATA = Path(__file__).with_name("items.toml")
PAGE = ROOT / "docs" / "reliability.md"
HEAD = """\
# What can go wrong

Races, failures and attacks that a scheduler meets, numbered as in the design checklist of Sempre,
and for each the tests that prove how Sempre responds. *Not yet* says which proof is missing. A
test of a contract suite runs for every store or broker.

`python -m tests.reliability.table` writes this page from `tests/reliability/items.toml`. `make
chaos` injects faults into fleets, and `make simulate` into simulated worlds.
"""


@dataclass(frozen=True)
class Item:
    """One thing that can go wrong.

    Attributes:
        words: what is promised for that case.
        proofs: the tests that would fail without it.
        not_yet: what is missing, if anything.
    """

    number: int
    section: str
    words: str
    proofs: tuple[str, ...] = ()
    not_yet: str = ""


def items() -> list[Item]:
    """Return every item, in order."""
    return [
        Item(
            int(number),
            each["section"],
            each["words"],
            tuple(each.get("proofs", ())),
            each.get("not_yet", ""),
        )
        for number, each in tomllib.loads(DATA.read_text()).items()
    ]


def page_of(table: Iterable[Item]) -> str:
    """Return the page that shows a table."""
    listed = list(table)
    parts = [HEAD, _counted(listed)]
    for section, rows in groupby(listed, key=lambda each: each.section):
        parts.append(f"\n## {section}\n\n| | case | proven by |\n|---|---|---|\n")
        parts += [f"| {each.number} | {each.words} | {_shown(each)} |\n" for each in rows]
    return "".join(parts)


def _counted(table: list[Item]) -> str:
    whole = sum(not each.not_yet for each in table)
    partly = sum(bool(each.not_yet and each.proofs) for each in table)
    open_ = len(table) - whole - partly
    return f"\n{len(table)} items: {whole} are proven, {partly} in part, {open_} not yet.\n"


def _shown(item: Item) -> str:
    proofs = [_link(each) for each in item.proofs]
    missing = [f"*not yet: {item.not_yet}*"] if item.not_yet else []
    return "; ".join([*proofs, *missing])


def _link(proof: str) -> str:
    path, _, name = proof.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{path})"


if __name__ == "__main__":
    PAGE.write_text(page_of(items()))
