"""Retention: a pass purges for a bounded time, and what it leaves is purged soon after."""

from datetime import datetime, timedelta

import pytest

from sempre import Sempre
from sempre.clock import SystemClock
from sempre.engine import retention
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import StillClock

CLOCK = SystemClock()
MINUTE = timedelta(minutes=1)
SWEEP = 15.0


class GrowingStore(MemoryStore):
    """A store with so many rows to purge; each purge takes a second of the worker's clock."""

    def __init__(self, clock: StillClock, rows: int) -> None:
        super().__init__()
        self._steady = clock
        self.rows = rows

    def purge(self, *, before: datetime, limit: int) -> int:
        assert before < CLOCK.now()
        self._steady.move(1.0)
        gone = min(self.rows, limit)
        self.rows -= gone
        return gone

    @property
    def next_pass_in(self) -> timedelta:
        return self.last_pass().value.due_at - CLOCK.now()


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


def app_on(store: GrowingStore, clock: StillClock) -> Sempre:
    return Sempre(store, clock=clock, sweep=SWEEP, lease="30s", watchdog_interval="5m")


def test_a_pass_purges_as_much_as_there_is_in_its_time(clock: StillClock) -> None:
    store = GrowingStore(clock, rows=3 * retention.PURGED_AT_ONCE)
    app = app_on(store, clock)

    report = app.watchdog.perform()

    assert store.rows == 0
    assert report.purged == 3 * retention.PURGED_AT_ONCE
    assert report.purging_since == ""
    assert store.next_pass_in > 4 * MINUTE


def test_a_pass_ends_purging_when_its_time_is_over_and_the_next_one_is_due_soon(
    clock: StillClock,
) -> None:
    store = GrowingStore(clock, rows=10**9)
    app = app_on(store, clock)

    began = clock.elapsed()
    report = app.watchdog.perform()

    assert clock.elapsed() - began <= SWEEP / 2
    assert report.purged >= 2 * retention.PURGED_AT_ONCE
    assert report.purging_since
    assert store.next_pass_in <= timedelta(seconds=SWEEP)


def test_the_report_tells_since_when_passes_leave_rows_until_one_leaves_none(
    clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = GrowingStore(clock, rows=10**9)
    app = app_on(store, clock)
    monkeypatch.setattr(retention, "SOON", 0.0)

    first, second = app.watchdog.perform(), app.watchdog.perform()
    store.rows = 7
    last = app.watchdog.perform()

    assert second.lock_acquired
    assert first.purging_since == second.purging_since != ""
    assert last.purging_since == ""
    assert last.lock_acquired
