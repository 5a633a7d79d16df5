"""Slots that come soon are read and planned before they are due; nothing else changes by that."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.engine import prefetch
from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.prefetch import AHEAD, FRESH
from sempre.engine.worker_spec import WorkerSpec
from sempre.ports.executor import Task
from sempre.ports.messages import Candidate, Reading, Session, Wanted
from sempre.stores.memory import MemoryStore
from sempre.testing.polling import eventually
from tests.unit.app.conftest import Hand

SPEC = WorkerSpec({"work": Task("work", print)}, frozenset({"default"}), 10)


class Noting(MemoryStore):
    """A store that notes whose candidates it was asked for."""

    def __init__(self, clock: Hand) -> None:
        super().__init__(clock)
        self.read = list[str]()

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        return self._noted(super().due(wanted))

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        return self._noted(super().candidates(ids))

    def _noted(self, reading: Reading[list[Candidate]]) -> Reading[list[Candidate]]:
        self.read += [each.execution.snapshot.name for each in reading.value]
        return reading


class Shop:
    """Schedules that are all due a minute after noon, and what claims them."""

    def __init__(self, count: int = 3) -> None:
        self.clock = Hand()
        self.store = Noting(self.clock)
        self.app = Sempre(self.store, broker=StoreBroker(), clock=self.clock)
        work = self.app.job(name="work")(lambda: None)
        for number in range(count):
            self.app.add(f"s{number}", Every("1m"), work)
        self.app.sync()
        self.claims = Claims(self.app.engine, SPEC)
        self.prefetch = self.claims.prefetch
        self.prefetch.few = 1
        self.store.register(Session("one"), lease=timedelta(hours=9))

    def prepare(self) -> None:
        """Read what comes, five seconds before it is due."""
        self.clock.move(seconds=55)
        eventually(lambda: not self.prefetch.step(5.0))
        self.store.read.clear()
        self.clock.move(seconds=5)

    def claim(self, limit: int = 10) -> ClaimResult:
        wanted = Wanted(SPEC.queues, SPEC.wanted.jobs, limit)
        return self.claims.due(wanted, session="one")


def names(result: ClaimResult) -> list[str]:
    return sorted(each.execution.snapshot.name for each in result.started)


def test_what_was_prepared_is_not_read_again_when_it_is_due() -> None:
    shop = Shop()
    shop.prepare()

    result = shop.claim()

    assert names(result) == ["s0", "s1", "s2"]
    assert shop.store.read == []
    [started_at] = {each.execution.started_at for each in result.started}
    assert started_at == shop.clock.now()
    [next_at] = {shop.app.schedules[name].next_run_at() for name in names(result)}
    assert next_at == shop.clock.now() + timedelta(minutes=1)


def test_nothing_is_prepared_long_before_it_is_due_nor_where_little_comes() -> None:
    shop = Shop()

    assert not shop.prefetch.step(AHEAD + 1)
    shop.prefetch.few = 4
    shop.clock.move(seconds=55)
    assert not shop.prefetch.step(5.0)

    assert not shop.prefetch.has_any


def test_what_was_changed_after_it_was_prepared_is_refused_and_read_again() -> None:
    shop = Shop()
    shop.prepare()
    shop.app.schedules["s1"].edit(priority=7)
    shop.app.schedules["s2"].pause()

    first = shop.claim()
    again = shop.claim()

    assert names(first) == ["s0"]
    assert len(first.refused) == 1
    assert names(again) == ["s1"]


def test_what_was_prepared_and_comes_too_late_is_planned_as_late() -> None:
    shop = Shop()
    shop.prepare()
    shop.clock.move(hours=1)

    result = shop.claim()

    assert names(result) == ["s0", "s1", "s2"]
    assert shop.store.read == ["s0", "s1", "s2"]
    schedule = shop.app.schedules["s0"]
    assert schedule.next_run_at() == shop.clock.now() + timedelta(minutes=1)


def test_what_is_more_urgent_goes_before_what_was_prepared() -> None:
    shop = Shop()
    shop.prepare()
    assert names(shop.claim(limit=1)) == ["s0"]
    shop.app.schedules["s2"].edit(priority=7)
    shop.app.schedules["s2"].trigger()
    shop.clock.move(seconds=FRESH)

    result = shop.claim(limit=1)

    assert names(result) == ["s2"]


def test_more_is_looked_for_until_all_that_is_due_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefetch, "AT_ONCE", 3)
    shop = Shop(8)
    shop.prepare()

    started = names(shop.claim(limit=2))
    while shop.prefetch.knows_more:
        started += names(shop.claim(limit=2))

    assert sorted(started) == [f"s{number}" for number in range(8)]
    assert shop.store.read == []
    assert not shop.prefetch.has_any


def test_what_others_have_claimed_is_forgotten() -> None:
    shop = Shop()
    shop.prepare()
    other = Claims(shop.app.engine, SPEC)
    other.due(SPEC.wanted, session="one")

    assert names(shop.claim()) == []

    assert not shop.prefetch.has_any
