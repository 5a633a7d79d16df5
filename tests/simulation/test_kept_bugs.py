"""Kept bugs: each is put into the engine, and the simulation must find it.

A simulation is only worth what it can catch. Whoever weakens it until one of these survives is
told so.
"""

from collections.abc import Callable

import pytest

from sempre.testing.simulation import Failure, simulate
from tests.simulation.bugs import BUGS

SEEDS = 150
STEPS = 1000


@pytest.mark.long
@pytest.mark.parametrize("put", BUGS.values(), ids=BUGS.keys())
def test_a_kept_bug_is_found(
    put: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch)

    found = next((seed for seed in range(SEEDS) if is_found_by(seed)), None)

    assert found is not None, f"it survived {SEEDS} seeds"


def is_found_by(seed: int) -> bool:
    try:
        simulate(seed, steps=STEPS)
    except Failure:
        return True
    return False


def test_there_are_bugs_to_be_found() -> None:
    assert len(BUGS) >= 12


@pytest.mark.parametrize(
    "name",
    [
        "a successor is not written",
        "a rescue ignores the lease",
        "a claim whose answer was lost starts twice",
        "the watchdogs message is not put back",
    ],
)
def test_a_gross_bug_is_found_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)

    with pytest.raises(Failure, match="--seed"):
        simulate_all(range(10))


def simulate_all(seeds: range) -> None:
    for seed in seeds:
        simulate(seed, steps=300)
