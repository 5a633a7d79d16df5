"""One line of the table for each fleet."""

from tests.integration.fleet.crew import Fleet
from tests.integration.fleet.judge import Finding

__all__ = ["report"]


def report(fleet: Fleet, fault: str, found: Finding) -> str:
    """Return a line of the table, and print it."""
    line = (
        f"{fleet.pairing.name:22} {fault:22} "
        f"{found.slots:5} {len(found.lost):4} {len(found.early):5} "
        f"{found.duplicated.total():5} {len(found.doubled):6} {fleet.faults:6} "
        f"{found.at(0.5):6.3f}s {found.at(0.99):6.3f}s"
    )
    print(line)  # noqa: T201 - shown by pytest -rP, and when the test fails
    return line
