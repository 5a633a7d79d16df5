"""Fleets that are harmed in mid run: whatever happens, every slot runs and none too early.

A guarded effect happens once. A start may happen twice, but for each schedule no more often than
something was killed or paused, and never because of a broker.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.integration.fleet.crew import Fleet, fleet_on
from tests.integration.fleet.faults import FAULTS
from tests.integration.fleet.pairings import PAIRINGS, pairing_on
from tests.integration.fleet.reporting import report

Record = Callable[[str, object], None]
QUICK = {("kill worker", "redis+redis"), ("flush broker", "redis+redis")}
# Nobody's work is taken away by these: nothing may start twice.
GENTLE = {"flush broker", "restart broker", "rolling restart", "freeze broker"}
ROUNDS = 2
LONGER = int(os.environ.get("SEMPRE_FLEET_FAULTS") or 8)


def cases() -> Iterator[object]:
    for fault in FAULTS:
        for name in PAIRINGS:
            if makes_sense(fault, name):
                yield pytest.param(fault, name, ROUNDS, marks=pytest.mark.long)
                if (fault, name) in QUICK:
                    yield pytest.param(fault, name, 1)


def makes_sense(fault: str, name: str) -> bool:
    store, _, broker = name.partition("+")
    if fault in ("flush broker", "restart broker", "freeze broker"):
        # A Redis that is both is a database that dies.
        return broker in ("beanstalkd", "redis") and (store != "redis" or fault == "flush broker")
    if fault == "lock file":
        return store == "sqlite"
    if fault == "refused writes":
        return store == "redis"
    return store != "sqlite" if fault in ("restart database", "blink of database") else True


@pytest.mark.parametrize(("fault", "name", "rounds"), list(cases()))
def test_nothing_is_lost_early_or_done_twice(
    fault: str, name: str, rounds: int, tmp_path: Path, record_property: Record
) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="busy") as fleet,
    ):
        fleet.join(3)

        until = harm(fleet, [fault] * rounds)

        fleet.part()
        rough = 0 if fault in GENTLE else fleet.faults
        everything_was_done(fleet, until, rough, fault, record_property)


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRINGS)
def test_nothing_is_lost_early_or_done_twice_in_a_mix_of_faults(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    """SEMPRE_FLEET_SEED repeats the order of the faults, though not their moments.

    SEMPRE_FLEET_FAULTS says how many there are.
    """
    seed = os.environ.get("SEMPRE_FLEET_SEED") or os.urandom(4).hex()
    possible = [fault for fault in FAULTS if makes_sense(fault, name)]
    chosen = Random(f"{name} {seed}").choices(possible, k=LONGER)  # noqa: S311 - no secret
    print(f"SEMPRE_FLEET_SEED={seed}:", ", ".join(chosen))  # noqa: T201 - shown if it fails
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="busy") as fleet,
    ):
        fleet.join(2)
        fleet.join(1, processes=2)

        until = harm(fleet, chosen)

        fleet.part()
        rough = sum(fault not in GENTLE for fault in chosen)
        everything_was_done(fleet, until, rough, "mix", record_property)


def harm(fleet: Fleet, faults: list[str]) -> float:
    """Let things happen; after each of them every slot has to run. Return the last instant."""
    until = fleet.wait_for_slots(1.0)
    for fault in faults:
        fleet.harmed()
        FAULTS[fault](fleet)
        fleet.healed()
        until = fleet.wait_for_slots(3.0)
    return until


def everything_was_done(
    fleet: Fleet, until: float, rough: int, fault: str, record_property: Record
) -> None:
    finding = fleet.finding(until)
    record_property("fleet", report(fleet, fault, finding))
    assert not finding.lost
    assert not finding.early
    assert not finding.unguarded
    assert not finding.doubled
    assert max(finding.duplicated.values(), default=0) <= rough
    nothing_is_corrupt(fleet.pairing.store)


def nothing_is_corrupt(store: str) -> None:
    """Let SQLite look at every page of its file."""
    if store.startswith("sqlite:///"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
