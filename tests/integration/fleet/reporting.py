"""What all fleets of a run have found, as tables: each run, and each pairing in sum."""

from collections.abc import Iterable, Sequence
from typing import Any

from tests.integration.fleet.crew import Fleet
from tests.integration.fleet.judge import Finding

__all__ = ["NONE", "Row", "report", "sums_of", "table_of"]

Row = dict[str, Any]
NONE = "none"
COUNTS = ("slots", "lost", "early", "twice", "fenced", "faults")


def report(fleet: Fleet, fault: str, found: Finding) -> Row:
    """Return a line of the table, and print it."""
    row = {
        "store + broker": fleet.pairing.name,
        "fault": fault,
        "slots": found.slots,
        "lost": len(found.lost),
        "early": len(found.early),
        "twice": found.duplicated.total(),
        "fenced": len(found.doubled),
        "faults": fleet.faults,
        "p50": round(found.at(0.5), 3),
        "p99": round(found.at(0.99), 3),
        "recovery": round(fleet.recovery, 1),
    }
    print("\n".join(table_of([row])))  # noqa: T201 - shown by pytest -rP, and when the test fails
    return row


def table_of(rows: Sequence[Row]) -> list[str]:
    """Return lines with titles, each column as wide as it has to be."""
    titles = list(rows[0])
    cells = [titles, *([str(row[title]) for title in titles] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(titles))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def sums_of(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each pairing: what it ran in all, and how late it was."""
    by_pairing: dict[str, list[Row]] = {}
    for row in rows:
        by_pairing.setdefault(row["store + broker"], []).append(row)
    return [_sum(name, of_one) for name, of_one in sorted(by_pairing.items())]


def _sum(name: str, rows: Sequence[Row]) -> Row:
    healthy = [row for row in rows if row["fault"] == NONE]
    harmed = [row for row in rows if row["fault"] != NONE]
    return {
        "store + broker": name,
        **{title: sum(row[title] for row in rows) for title in COUNTS},
        "p50 healthy": max((row["p50"] for row in healthy), default=""),
        "p99 healthy": max((row["p99"] for row in healthy), default=""),
        "p99 harmed": max((row["p99"] for row in harmed), default=""),
        "recovery": max((row["recovery"] for row in harmed), default=""),
    }
