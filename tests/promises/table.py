"""The table of promises: read from `promises.toml`, written as a page of the documentation.

python -m tests.promises.table      # writes docs/concepts/promises.md anew
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

__all__ = ["PAGE", "ROOT", "Promise", "asserted", "page_of", "promises"]

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("promises.toml")
PAGE = ROOT / "docs" / "concepts" / "promises.md"
SEEDS = {
    "postburner": "Postburner: Scheduler and Schedule",
    "allora": "Allora",
    "pairs": "Paired scheduler and reconciler",
}
HEAD = """\
# What was promised before

Sempre grew from three texts: Postburner's scheduler, Allora's README, and the pattern of a
scheduler that is paired with a job. This page lists the promises of these texts, section by
section, and for each promise the test that proves it here, or the decision that departs from it.

`python -m tests.promises.table` writes this page from `tests/promises/promises.toml`.
"""


@dataclass(frozen=True)
class Promise:
    """One promise of a seed, and the one thing that becomes of it here.

    Attributes:
        kept_by: the id of a test, the path of a decision, or `later: ` and the words of an issue.
    """

    seed: str
    section: str
    words: str
    kept_by: str

    @property
    def is_proven(self) -> bool:
        """Whether a test proves it."""
        return "::" in self.kept_by

    @property
    def is_departed_from(self) -> bool:
        """Whether a decision says what is done instead."""
        return self.kept_by.startswith("docs/adr/") and not self.is_proven

    @property
    def is_for_later(self) -> bool:
        """Whether it is not built yet."""
        return self.kept_by.startswith("later: ")


def promises() -> list[Promise]:
    """Return every promise, in the order of the seeds."""
    return [
        Promise(seed, section, words, kept_by)
        for seed, sections in tomllib.loads(DATA.read_text()).items()
        for section, sentences in sections.items()
        for words, kept_by in sentences.items()
    ]


def asserted() -> dict[str, list[str]]:
    """Return what the proofs of some promises must assert, by the words of the promise."""
    return tomllib.loads(DATA.with_name("asserted.toml").read_text())


def page_of(table: Iterable[Promise]) -> str:
    """Return the page that shows a table."""
    kept = list(table)
    parts = [HEAD, _counted(kept)]
    for seed, of_seed in groupby(kept, key=lambda each: each.seed):
        parts.append(f"\n## {SEEDS[seed]}\n")
        for section, rows in groupby(of_seed, key=lambda each: each.section):
            lines = [f"| {_cell(each.words)} | {_link(each)} |" for each in rows]
            parts.append(f"\n### {section}\n\n| promise | kept by |\n|---|---|\n")
            parts += [f"{line}\n" for line in lines]
    return "".join(parts)


def _counted(table: list[Promise]) -> str:
    proven, departed = (sum(map(of, table)) for of in (_proven, _departed))
    later = sum(each.is_for_later for each in table)
    return (
        f"\n{len(table)} promises: {proven} are proven by a test, "
        f"{departed} departed from by a decision, {later} for later.\n"
    )


def _proven(promise: Promise) -> bool:
    return promise.is_proven


def _departed(promise: Promise) -> bool:
    return promise.is_departed_from


def _link(promise: Promise) -> str:
    if promise.is_proven:
        path, _, name = promise.kept_by.partition("::")
        return f"[{name.removeprefix('test_').replace('_', ' ')}](../../{path})"
    if promise.is_departed_from:
        name = promise.kept_by.rpartition("/")[2]
        return f"departs: [ADR {int(name[:4])}](../adr/{name})"
    return f"*{_cell(promise.kept_by)}*"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page_of(promises()))
