"""A worker with nothing to do: it shows life, and asks for nothing else."""

from typing import Any, cast

from sempre.brokers.store import StoreBroker
from sempre.config import Settings
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.events import Events
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, Hands
from tests.unit.engine.test_sweeping import TwoClocks


class CountingStore:
    """Hands everything on, and notes what was asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        found = getattr(self._store, name)
        if callable(found):
            self.asked.append(name)
        return found


def test_in_a_minute_without_work_the_store_is_asked_once_a_beat() -> None:
    clock, settings, events = TwoClocks(), Settings(), Events()
    store = CountingStore(MemoryStore(clock))
    authority = cast("Store", store)
    bell = Bell(authority, StoreBroker(), horizon=settings.horizon, clock=clock, events=events)
    engine = Engine(authority, bell, settings, clock, events, "2026.1")
    worker = DrivenWorker(engine, WorkerSpec({}, frozenset({"default"})), Hands())
    worker.heal()
    store.asked.clear()

    for _ in range(6):
        clock.seconds += 10
        worker.heal()

    swept = store.asked.count("open_limits")
    assert [each for each in store.asked if each != "open_limits"] == ["tick"] * 6
    # Once in a sweep of 15 seconds, for executions that wait for a limit.
    assert swept <= 4
