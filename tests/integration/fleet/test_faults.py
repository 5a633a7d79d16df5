"""Fleets that are harmed in mid run: whatever happens, every slot runs and none too early.

A guarded effect happens once. A start may happen twice, but for each schedule no more often than
something was killed or paused, and never because of a broker.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.fleet.crew import fleet_on
from tests.integration.fleet.faults import FAULTS
from tests.integration.fleet.pairings import PAIRINGS, pairing_on
from tests.integration.fleet.reporting import report

QUICK = {
    ("kill worker", "sqlite+store"),
    ("pause member", "redis+redis"),
    ("flush broker", "postgresql+beanstalkd"),
}
# Nobody's work is taken away by these: nothing may start twice.
GENTLE = {"flush broker", "restart broker", "rolling restart"}
ROUNDS = 2


def cases() -> Iterator[object]:
    for fault in FAULTS:
        for name in PAIRINGS:
            if _makes_sense(fault, name):
                quick = (fault, name) in QUICK
                yield pytest.param(fault, name, marks=() if quick else pytest.mark.long)


def _makes_sense(fault: str, name: str) -> bool:
    store, _, broker = name.partition("+")
    if fault in ("flush broker", "restart broker"):
        # A Redis that is both is a database that dies.
        return broker in ("beanstalkd", "redis") and (store != "redis" or fault == "flush broker")
    if fault == "lock file":
        return store == "sqlite"
    return store != "sqlite" if fault in ("restart database", "blink of database") else True


@pytest.mark.parametrize(("fault", "name"), list(cases()))
def test_nothing_is_lost_early_or_done_twice(
    fault: str, name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="busy") as fleet,
    ):
        fleet.join(3)
        fleet.wait_for_first()

        for _ in range(ROUNDS):
            FAULTS[fault](fleet)
            fleet.faults += 1
            until = fleet.wait_for_slots(3.0)

        fleet.part()
        finding = fleet.finding(until)
        record_property("fleet", report(fleet, fault, finding))
        most = 0 if fault in GENTLE else fleet.faults
        assert not finding.lost
        assert not finding.early
        assert not finding.unguarded
        assert not finding.doubled
        assert max(finding.duplicated.values(), default=0) <= most
