"""Whatever order deploys come in: what the newest release declares is enabled, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.urls import open_store
from tests.property.declaring.deploys import Code, Deploys, Expected, Step, any_code, any_steps

ONE = frozenset({"apples", "bread"})
OTHER = frozenset({"apples", "cheese"})
STARTS = [Step("start", version=number) for number in (0, 1, 0)]


def play(store: Store, versions: list[Code], steps: list[Step]) -> None:
    deploys, expected = Deploys(store, versions), Expected()
    for step in steps:
        existing = deploys.existing()
        deploys.take(step)
        if step.verb == "start":
            expected.start(versions[step.version % len(versions)], existing)
        elif step.name in existing:
            expected.operate(step)

        assert deploys.enabled() == expected.enabled, f"after {step}"


@given(versions=any_code(released=True), steps=any_steps())
@example(versions=[Code(1, ONE), Code(2, OTHER)], steps=STARTS)
def test_with_releases_the_newest_one_decides(versions: list[Code], steps: list[Step]) -> None:
    play(MemoryStore(), versions, steps)


@given(versions=any_code(released=False), steps=any_steps())
@example(versions=[Code(0, ONE), Code(0, OTHER)], steps=STARTS)
def test_without_releases_the_last_start_decides(versions: list[Code], steps: list[Step]) -> None:
    play(MemoryStore(), versions, steps)


@pytest.mark.parametrize("released", [True, False], ids=["with releases", "without"])
def test_on_sqlite_as_well(tmp_path: Path, *, released: bool) -> None:
    numbers = iter(range(10**6))

    @settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
    @given(versions=any_code(released=released), steps=any_steps())
    @example(versions=[Code(int(released), ONE), Code(2 * released, OTHER)], steps=STARTS)
    def any_order(versions: list[Code], steps: list[Step]) -> None:
        store = open_store(f"sqlite:///{tmp_path / f'{next(numbers)}.db'}")
        store.upgrade()
        try:
            play(store, versions, steps)
        finally:
            store.close()

    any_order()
