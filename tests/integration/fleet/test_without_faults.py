"""Fleets that nobody harms: every slot once, none early, on every pairing."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.fleet.crew import Fleet, fleet_on
from tests.integration.fleet.pairings import PAIRINGS, STORES, pairing_on, pairings_on
from tests.integration.fleet.reporting import NONE, report

Record = Callable[[str, object], None]


@pytest.mark.parametrize("store", STORES)
def test_every_slot_runs_exactly_once_and_none_early(
    store: str, tmp_path: Path, record_property: Record
) -> None:
    names = [name for name in PAIRINGS if name.startswith(f"{store}+")]
    with ExitStack() as stack:
        fleets = []
        for pairing in stack.enter_context(pairings_on(names, tmp_path)):
            folder = tmp_path / pairing.name
            folder.mkdir()
            fleets.append(stack.enter_context(fleet_on(pairing, folder)))
        for fleet in fleets:
            fleet.join(2)
        for fleet in fleets:
            fleet.wait_for_first()

        until = [fleet.wait_for_slots(5.0 if fleet is fleets[0] else 0.0) for fleet in fleets]

        for fleet in fleets:
            fleet.part()
        for fleet, last in zip(fleets, until, strict=True):
            everything_is_in_order(fleet, last, record_property)


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRINGS)
def test_every_slot_runs_exactly_once_for_a_longer_time(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    with pairing_on(name, tmp_path) as pairing, fleet_on(pairing, tmp_path) as fleet:
        fleet.join(2)
        fleet.join(1, processes=2)
        fleet.wait_for_first()

        until = fleet.wait_for_slots(20.0)

        fleet.part()
        everything_is_in_order(fleet, until, record_property)


def everything_is_in_order(fleet: Fleet, until: float, record_property: Record) -> None:
    finding = fleet.finding(until)
    record_property("fleet", report(fleet, NONE, finding))
    assert not finding.lost
    assert not finding.early
    assert not finding.duplicated
    assert not finding.doubled
    assert not finding.refused
    assert not finding.overlapping
    assert finding.incomplete == 0
    assert "Traceback" not in fleet.outputs()
