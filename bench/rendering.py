"""Writes everything that is drawn from the data: the report, the pictures, the pages.

It measures nothing, so it can be done again at any time: `python -m bench --render`.
"""

from pathlib import Path

from bench.charts import charts
from bench.pages import PERFORMANCE, README, filled
from bench.reporting import markdown
from bench.results import Results

__all__ = ["PLOTS", "render", "rendered", "report"]

PLOTS = "docs/performance"
REPORT = "bench/results.md"


def rendered(results: Results, root: Path) -> dict[str, str]:
    """Return the text of each file that is drawn from the results, by its path below `root`."""
    pages = {
        name: filled(name, (root / name).read_text(), results) for name in (README, PERFORMANCE)
    }
    plots = {f"{PLOTS}/{name}": text for name, text in charts(results).items()}
    tables = {REPORT: markdown(results)} if results.comparisons else {}
    return pages | plots | tables


def render(results: Results, root: Path) -> None:
    """Write those files, and remove pictures of what is no longer measured."""
    files = rendered(results, root)
    (root / PLOTS).mkdir(parents=True, exist_ok=True)
    for old in (root / PLOTS).glob("*.svg"):
        if f"{PLOTS}/{old.name}" not in files:
            old.unlink()
    for name, text in files.items():
        (root / name).write_text(text)


def report(results: Results, path: Path) -> None:
    """Write the tables beside data that lie elsewhere, as markdown."""
    path.with_suffix(".md").write_text(markdown(results))
