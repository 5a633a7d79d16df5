"""How often a worker process lets the garbage collector look at what is new."""

import gc
from collections.abc import Iterator

import pytest

from sempre.app.process.worker_processes import USUAL_YOUNG, YOUNG, _collect_seldom


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """Leave the collector as it was."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.parametrize("usual", USUAL_YOUNG)
def test_a_worker_lets_the_collector_look_seldom(usual: int) -> None:
    gc.set_threshold(usual)

    _collect_seldom()

    assert gc.get_threshold()[0] == YOUNG
    assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("own", [0, 123, 50_000])
def test_what_the_users_own_code_said_to_the_collector_stays(own: int) -> None:
    gc.set_threshold(own)

    _collect_seldom()

    assert gc.get_threshold()[0] == own
