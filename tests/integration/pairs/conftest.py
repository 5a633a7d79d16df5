"""The databases of these tests; and a table at the end of a run: what each drill has found."""

import pytest

from tests.integration.fleet.reporting import table_of
from tests.integration.transactions.conftest import mariadb, place, postgresql

__all__ = ["mariadb", "place", "postgresql"]

EXPLAINED = (
    "dropped: enqueues that never happened; cancelled: thrown away while they waited; begun again: "
    "runs whose worker was killed; twice: effects beyond the first; left: rows or runs unfinished; "
    "seconds: from each flush until all rows of that moment were handled"
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    rows = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "drill" and getattr(report, "when", "") == "call"
    ]
    if rows:
        terminalreporter.section("drills of pairs")
        for line in table_of(sorted(rows, key=lambda row: str(row["pairing"]))):
            terminalreporter.write_line(line)
        terminalreporter.write_line(EXPLAINED)
