"""Worlds full of faults, one for each seed: no promise is broken, and every one heals.

A seed that fails here is run again, with its whole trace, by
`python -m sempre.testing.simulation --seed N --lines 5000`.
"""

import os
import subprocess
import sys

import pytest

from sempre.testing.simulation import simulate

# In tens, so that a run in parallel shares them out evenly.
SEEDS = range(60)
TENS = [SEEDS[first : first + 10] for first in range(0, len(SEEDS), 10)]
STEPS = 1000


@pytest.mark.parametrize("seeds", TENS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_no_promise_is_broken_whatever_fails(seeds: range) -> None:
    for seed in seeds:
        simulate(seed, steps=STEPS)


def test_a_seed_is_the_same_run_in_every_process() -> None:
    code = "from sempre.testing.simulation import simulate; print(simulate(7, steps=500).digest)"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(digests) == 1


def test_two_seeds_are_two_runs() -> None:
    assert simulate(1, steps=300).digest != simulate(2, steps=300).digest


def test_seeds_see_every_kind_of_fault() -> None:
    counts: dict[str, int] = {}
    for seed in range(200, 215):
        for name, number in simulate(seed, steps=300).counts.items():
            counts[name] = counts.get(name, 0) + number

    assert counts.keys() >= {
        "broker failures",
        "broker lies",
        "broker outages",
        "clock steps",
        "flushes",
        "heals",
        "kills",
        "lost replies",
        "operations",
        "other releases",
        "partitions",
        "pauses",
        "restarts",
        "slots done",
        "starts",
        "store failures",
        "store outages",
        "taken back",
    }
