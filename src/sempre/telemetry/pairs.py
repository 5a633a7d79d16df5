"""Sentences about pairs: what a run of one found, and what is wrong with it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sempre.domain.pair import Scan

__all__ = ["behind", "full_scan", "scanned", "uncovered"]

NAMED = 3


def scanned(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say what a run found and enqueued."""
    scan = _scan(facts)
    counts = {
        "already live": scan.already_live,
        "rejected": scan.rejected,
        "backing off": scan.backing_off,
        "failing again and again": scan.poisoned,
        "uncovered by the query": scan.uncovered,
    }
    more = "".join(f", {count} {what}" for what, count in counts.items() if count)
    return f"{facts.get('pair')} found {scan.found}, enqueued {scan.enqueued}{more}"


def uncovered(facts: Mapping[str, Any], _now: datetime) -> str:
    """Name work that the contract finds and the query does not."""
    scan = _scan(facts)
    named = ", ".join(scan.uncovered_work[:NAMED])
    more = ", ..." if scan.uncovered > NAMED else ""
    return f"{facts.get('pair')} misses {scan.uncovered} that its contract finds: {named}{more}"


def full_scan(facts: Mapping[str, Any], _now: datetime) -> str:
    """Name the tables that the query reads as a whole."""
    tables = ", ".join(_scan(facts).full_scans)
    return f"{facts.get('pair')} reads all of {tables}: its query needs an index"


def behind(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say how long a run took, and how long it may take."""
    scan = _scan(facts)
    took = f"took {scan.seconds:g}s, and its next run was due after {scan.cadence_s:g}s"
    return f"{facts.get('pair')} {took}: add an index, run it less often, or divide it by shards="


def _scan(facts: Mapping[str, Any]) -> Scan:
    scan = facts.get("scan")
    return scan if isinstance(scan, Scan) else Scan()
