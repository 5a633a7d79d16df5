"""Retention: a pass purges for a bounded time, and what it leaves is purged soon after."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from sempre import Sempre
from sempre.clock import SystemClock
from sempre.engine import retention
from sempre.ports.messages import Birth
from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import StillClock
from sempre.testing.contracts.store.builders import draft_schedule

CLOCK = SystemClock()
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
SWEEP = 15.0


class GrowingStore(MemoryStore):
    """A store with so many rows to purge; each purge takes a second of the worker's clock."""

    def __init__(self, clock: StillClock, rows: int) -> None:
        super().__init__()
        self._steady = clock
        self.rows = rows
        self.asked: list[Purge] = []

    def purge(self, purge: Purge) -> Purged:
        assert purge.before < CLOCK.now()
        self.asked.append(purge)
        self._steady.move(1.0)
        gone = min(self.rows, purge.limit)
        self.rows -= gone
        return Purged(gone, str(PageKey(purge.before, "")), more=gone == purge.limit)

    @property
    def next_pass_in(self) -> timedelta:
        return self.last_pass().value.due_at - CLOCK.now()


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SOON", 0.0)


def app_on(store: GrowingStore, clock: StillClock) -> Sempre:
    return Sempre(store, clock=clock, sweep=SWEEP, lease="30s", watchdog_interval="5m")


def perform_again(app: Sempre, **report: Any) -> None:  # noqa: ANN401 - any JSON
    """Run another pass, whose predecessor reported something."""
    store = app.engine.store
    last = store.last_pass().value
    store.finish_pass(holder=last.holder, report={**last.report, **report}, due_in=timedelta(0))
    assert app.watchdog.perform().lock_acquired


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
    clock: StillClock,
) -> None:
    store = GrowingStore(clock, rows=10**9)
    app = app_on(store, clock)

    first, second = app.watchdog.perform(), app.watchdog.perform()
    store.rows = 7
    last = app.watchdog.perform()

    assert second.lock_acquired
    assert first.purging_since == second.purging_since != ""
    assert last.purging_since == ""
    assert last.lock_acquired


def test_a_pass_goes_on_where_the_last_one_ended(clock: StillClock) -> None:
    store = GrowingStore(clock, rows=0)
    app = app_on(store, clock)
    app.watchdog.perform()

    perform_again(app)

    first, second = store.asked
    assert first.after == ""
    assert second.after == str(PageKey(first.before, ""))
    assert CLOCK.now() - second.before >= app.settings.retention


def test_each_retention_of_schedules_has_a_way_of_its_own_by_turns(clock: StillClock) -> None:
    store = GrowingStore(clock, rows=10**9)
    for name, own in {"a": DAY, "b": 90 * DAY, "c": DAY}.items():
        store.create([Birth(draft_schedule(store, name, retention=own))])
    app = app_on(store, clock)

    app.watchdog.perform()
    app.watchdog.perform()

    ways = [each.retention for each in store.asked]
    assert ways == ["setting", DAY, 90 * DAY, "setting", DAY, 90 * DAY, "setting", DAY]
    ages = {each.retention: CLOCK.now() - each.before for each in store.asked}
    assert {way: age // DAY for way, age in ages.items()} == {"setting": 30, DAY: 1, 90 * DAY: 90}
    assert [each.after == "" for each in store.asked] == [True] * 3 + [False] * 5


def test_a_way_begins_anew_where_its_place_cannot_be_relied_on(clock: StillClock) -> None:
    store = GrowingStore(clock, rows=0)
    app = app_on(store, clock)
    app.watchdog.perform()
    now = CLOCK.now()

    def place(at: datetime) -> str:
        return str(PageKey(at, "x"))

    began, old = now.isoformat(), place(now - 40 * DAY)
    long_ago, ahead = (now - 31 * DAY).isoformat(), (now + DAY).isoformat()
    unreliable: tuple[Any, ...] = (
        [began, place(now - DAY)],
        [long_ago, old],
        [ahead, old],
        [began, "nonsense"],
        ["nonsense", old],
        [began, 7],
        "nonsense",
        {},
    )
    for known in unreliable:
        perform_again(app, purges={"setting": known})
        assert store.asked[-1].after == "", known
    perform_again(app, purges=7)
    assert store.asked[-1].after == ""

    perform_again(app, purges={"setting": [began, old]})

    assert store.asked[-1].after == old
