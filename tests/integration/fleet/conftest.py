"""Two tables at the end of a run: what each fleet has found, and each pairing in sum."""

import pytest

from tests.integration.fleet.reporting import Row, sums_of, table_of

EXPLAINED = (
    "twice: starts beyond the first; fenced: effects that a guarded resource took twice; "
    "p50, p99: seconds between due and start; recovery: seconds from the end of a fault to the "
    "last start that was late or a second one"
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = _rows(terminalreporter)
    for title, shown in (("fleets", rows), ("fleets by store and broker", sums_of(rows))):
        if shown:
            terminalreporter.section(title)
            for line in table_of(shown):
                terminalreporter.write_line(line)
    if rows:
        terminalreporter.write_line(EXPLAINED)


def _rows(reporter: pytest.TerminalReporter) -> list[Row]:
    reports = [report for kind in reporter.stats.values() for report in kind]
    rows = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "fleet" and getattr(report, "when", "") == "call"
    ]
    return sorted(rows, key=lambda row: (row["store + broker"], row["fault"]))
