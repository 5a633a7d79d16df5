"""A worker that no wake-up can reach asks the store every now and then; any other does not."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from sempre.brokers.store import StoreBroker
from sempre.brokers.watch import ThisProcess
from sempre.config import Settings
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.peeks import GROWTH, LONGEST, SHORTEST, Peeks
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.store.builders import enqueued, wanted
from tests.unit.engine.test_sweeping import TwoClocks

if TYPE_CHECKING:
    from sempre.ports.store import Store

WANTED = wanted()


class Hearing(ThisProcess):
    """A watch that hears other processes, or has lost its connection."""

    is_cut = False

    @property
    def shared(self) -> bool:
        return not self.is_cut


class SharedStore(MemoryStore):
    """A store as a server is one: other processes use it as well."""

    def __init__(self, clock: TwoClocks) -> None:
        super().__init__(clock)
        self.capabilities = replace(self.capabilities, shared=True)


def engine_on(store: MemoryStore, watch: ThisProcess, clock: TwoClocks) -> Engine:
    settings, events = Settings(), Events()
    authority = cast("Store", store)
    broker = StoreBroker(watch)
    bell = Bell(authority, broker, horizon=settings.horizon, clock=clock, events=events)
    return Engine(authority, bell, settings, clock, events, "2026.1")


def test_a_worker_that_is_woken_never_asks() -> None:
    clock = TwoClocks()
    peeks = Peeks(engine_on(SharedStore(clock), Hearing(), clock), WANTED)

    assert not peeks.is_due
    assert peeks.rest(60) == 60


def test_nor_does_one_whose_store_is_in_its_own_process() -> None:
    clock = TwoClocks()
    peeks = Peeks(engine_on(MemoryStore(clock), ThisProcess(), clock), WANTED)

    assert not peeks.is_due
    assert peeks.rest(60) == 60


def test_a_worker_that_is_cut_off_asks_until_it_hears_again() -> None:
    clock, watch = TwoClocks(), Hearing()
    peeks = Peeks(engine_on(SharedStore(clock), watch, clock), WANTED)

    watch.is_cut = True

    assert peeks.is_due
    assert peeks.first_due() is None
    assert not peeks.is_due
    assert peeks.rest(60) == pytest.approx(SHORTEST * GROWTH)
    assert peeks.rest(0.01) == 0.01
    watch.is_cut = False
    assert peeks.rest(60) == 60


def test_pauses_grow_while_there_is_nothing_and_are_short_after_work() -> None:
    clock = TwoClocks()
    peeks = Peeks(engine_on(SharedStore(clock), ThisProcess(), clock), WANTED)

    asked, until = 0, clock.seconds + 60
    while clock.seconds < until:
        clock.seconds += peeks.rest(60)
        assert peeks.first_due() is None
        asked += 1

    assert peeks.rest(60) == pytest.approx(LONGEST)
    assert 60 / LONGEST <= asked <= 60 / LONGEST + 10
    peeks.put_off(found=True)
    assert peeks.rest(60) == pytest.approx(SHORTEST)


def test_it_is_told_of_what_is_due_lately_but_not_of_what_has_been_due_for_long() -> None:
    """A row that lies there for seconds cannot be started here; a heartbeat tells of it as well."""
    clock = TwoClocks()
    store = SharedStore(clock)
    peeks = Peeks(engine_on(store, ThisProcess(), clock), WANTED)
    enqueued(cast("Store", store), due_in=timedelta(0))

    assert peeks.first_due() is not None
    clock.seconds += 10
    assert peeks.first_due() is None
