"""A table of what all fleets of a run have found, one line each."""

import pytest

COLUMN = "fleet"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    rows = [
        str(value)
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == COLUMN and getattr(report, "when", "") == "call"
    ]
    if rows:
        terminalreporter.section("fleets")
        terminalreporter.write_line(TITLES)
        for row in sorted(rows):
            terminalreporter.write_line(row)


TITLES = (
    f"{'store + broker':22} {'fault':22} {'slots':>5} {'lost':>4} {'early':>5} {'twice':>5} "
    f"{'fenced':>6} {'faults':>6} {'p50':>7} {'p99':>7}"
)
