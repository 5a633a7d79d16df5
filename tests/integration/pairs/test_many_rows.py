"""A pair over many rows: they stream, so that memory does not grow with their number."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.architecture.source import ROOT
from tests.integration.pairs.tables import fill
from tests.integration.transactions.places import Place

PROGRAM = "tests.integration.pairs.many_program"
MANY, VERY_MANY = 10_000, 100_000
# The contract of a pair keeps a hash of each key that was found: 8 bytes, in a set half empty.
OF_A_HASH = 100
MEGABYTE = 2**20
# Garbage is not collected at the same moments in two runs.
TOLERANCE = 4.0

MEMORY = {"sqlite": "traced", "postgresql": "whole", "mariadb": "whole"}


def derived(place: Place, rows: int, how: str) -> dict[str, Any]:
    """Fill the table anew, and derive all its rows in a process of its own."""
    place.run("DROP TABLE IF EXISTS wanted")
    fill(place, rows)
    memory = MEMORY[place.store.partition(":")[0]]
    ended = subprocess.run(
        [sys.executable, "-m", PROGRAM, place.store, how, memory],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said: dict[str, Any] = json.loads(ended.stdout)
    print(place.store.partition(":")[0], rows, how, said)  # noqa: T201 - shown by pytest -rP
    return said


@pytest.mark.parametrize(
    ("place", "rows"), [("sqlite", 1_500), ("postgresql", 6_000)], indirect=["place"]
)
def test_memory_does_not_grow_with_the_rows(place: Place, rows: int) -> None:
    few, many = (derived(place, each, "plain") for each in (rows // 3, rows))

    assert many["found"] == rows
    assert many["enqueued"] == rows - few["found"]  # the first ones wait already
    assert many["peak"] < few["peak"] + TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "how"),
    [
        ("sqlite", "plain"),
        ("postgresql", "plain"),
        ("mariadb", "plain"),
        ("postgresql", "contract"),
    ],
    indirect=["place"],
)
def test_memory_does_not_grow_with_a_hundred_thousand_rows(place: Place, how: str) -> None:
    few, many = (derived(place, rows, how) for rows in (MANY, VERY_MANY))

    hashes = OF_A_HASH * VERY_MANY / MEGABYTE if how == "contract" else 0
    assert many["found"] == VERY_MANY
    assert many["uncovered"] == 0
    assert many["peak"] < few["peak"] + TOLERANCE + hashes
