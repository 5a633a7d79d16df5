"""Contracts of backfills: past slots that did not succeed are run again, and nothing overlaps."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

import pytest

from sempre.domain.states import Kind, State
from sempre.errors import Refused
from sempre.ports.executor import Ended
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import read


def test_a_backfill_runs_missed_slots_in_order_one_at_a_time(store: Store) -> None:
    """Also if overlap is allowed; the cursor and the next row do not move."""
    shop = Workshop(store)
    shop.behind(overlap="allow")
    worker = shop.worker()
    worker.work_off()
    before = shop.row()
    worker.hands.holding = True

    created = shop.schedule().backfill(shop.ago(40), shop.ago(10))

    assert sorted(shop.minutes_of(created)) == [14, 24, 34]
    seen = []
    while begun := worker.turn():
        [execution] = begun
        seen.append(shop.minutes(execution.run_at))
        assert worker.turn() == []
        worker.end(execution)
    assert seen == [34, 24, 14]
    after = shop.row()
    assert (after.cursor, after.next_run_at) == (before.cursor, before.next_run_at)


def test_a_backfill_runs_what_has_failed_and_not_what_has_succeeded(store: Store) -> None:
    """The failed row is unchanged, beside the new row."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    worker = shop.worker(holding=True)
    for number in range(5):
        [row] = worker.turn()
        worker.end(row, Ended.FAILED if number in (1, 3) else Ended.SUCCEEDED)
    worker.hands.holding = False

    shop.schedule().backfill(shop.ago(60), shop.now)

    again = worker.work_off()
    assert shop.minutes_of(again) == [34, 14]
    assert {row.kind for row in again} == {Kind.BACKFILL}
    states = [row.state for row in shop.rows() if shop.minutes(row.run_at) == 34]
    assert sorted(states) == [State.FAILED, State.SUCCEEDED]


def test_a_due_slot_goes_before_a_backfill(store: Store) -> None:
    """The present goes before the past."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    worker = shop.worker(holding=True)
    [first] = worker.turn()
    worker.end(first, Ended.FAILED)

    shop.schedule().backfill(shop.ago(60), shop.now)

    worker.hands.holding = False
    begun = worker.work_off()
    assert [row.kind for row in begun] == [Kind.SCHEDULED] * 4 + [Kind.BACKFILL]


def test_a_backfill_repeated_creates_nothing_more(store: Store) -> None:
    """While the first backfill waits, and after its success."""
    shop = Workshop(store)
    shop.behind()
    worker = shop.worker()
    worker.work_off()
    handle = shop.schedule()
    assert len(handle.backfill(shop.ago(60), shop.now)) == 4

    assert handle.backfill(shop.ago(60), shop.now) == []
    assert len(worker.work_off()) == 4

    assert handle.backfill(shop.ago(60), shop.now) == []


def test_a_backfill_of_a_stopped_schedule_is_refused(store: Store) -> None:
    """Disabled or paused: a stopped schedule starts nothing."""
    shop = Workshop(store)
    shop.behind()
    shop.worker().work_off()
    handle = shop.schedule()
    handle.pause()
    with pytest.raises(Refused):
        handle.backfill(shop.ago(60), shop.now)
    handle.resume()
    handle.disable()

    with pytest.raises(Refused):
        handle.backfill(shop.ago(60), shop.now)


def test_a_backfill_that_waits_is_cancelled_by_a_disable(store: Store) -> None:
    """Each with the reason."""
    shop = Workshop(store)
    shop.behind()
    shop.worker().work_off()
    created = shop.schedule().backfill(shop.ago(60), shop.now)

    shop.schedule().disable()

    rows = [read(store, row.id) for row in created]
    assert {(row.state, row.reason) for row in rows} == {(State.CANCELLED, "disabled")}
    assert shop.worker().work_off() == []
