"""Claims by id: the same executions start, whether tickets of one-off work are expected or not."""

from datetime import timedelta
from random import Random

import pytest

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.engine.claims import Claims
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.executor import Task
from sempre.ports.messages import Session, Switch, Wanted
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.store.builders import enqueued
from tests.unit.app.conftest import Hand

SPEC = WorkerSpec({"work": Task("work", print)}, frozenset({"default"}), 10)
ALL = Wanted(frozenset({"default"}), frozenset({"work"}), 99)


class Shop:
    """Slots and one-off work in a store, and a worker that has tickets of all of them."""

    def __init__(self, seed: int) -> None:
        random, clock = Random(seed), Hand()  # noqa: S311 - a seed makes a failure repeatable
        self.store = MemoryStore(clock)
        app = Sempre(self.store, broker=StoreBroker(), clock=clock)
        work = app.job(name="work")(lambda: None)
        for number in range(3):
            app.add(f"slot {number}", Every("1m"), work)
        app.sync()
        self.claims = Claims(app.engine, SPEC)
        self.store.register(Session("one"), lease=timedelta(hours=9))
        clock.move(seconds=60)
        self.ids = self.store.due_ids(ALL, within=timedelta(0)).value
        for number in range(12):
            due_in = timedelta(seconds=random.choice([-5, 0, 30]))
            job = random.choice(["work", "work", "other"])
            self.ids.append(enqueued(self.store, name=f"{number}", job=job, due_in=due_in))
        if random.random() < 0.3:
            self.store.switch(Switch("off", random.choice(["all", "job:work"])), off=True)
        random.shuffle(self.ids)
        self.names = {
            each.execution.id: each.execution.snapshot.name
            for each in self.store.candidates(self.ids).value
        }

    def claim(self, *, expects_one_off: bool) -> list[object]:
        """Claim by tickets; return what became of them, and how each is stored, by names."""
        self.claims._expects_one_off = expects_one_off  # noqa: SLF001 - the path to compare
        found = self.claims.by_ids([*self.ids, "unknown"], session="one")
        started = {self.names[run.execution.id] for run in found.started}
        left = [found.early, found.blocked, found.unroutable, found.refused, found.passed_over]
        stored = {
            self.names[row.id]: (row.state, row.attempt, row.session, row.started_at)
            for row in (each.execution for each in self.store.candidates(self.ids).value)
        }
        return [started, *({self.names[each] for each in ids} for ids in left), stored]


@pytest.mark.parametrize("seed", range(20))
def test_expected_one_off_work_starts_as_any_other_does(seed: int) -> None:
    assert Shop(seed).claim(expects_one_off=True) == Shop(seed).claim(expects_one_off=False)
