"""Contracts of a schedule's bounds: the last slot, the most starts, and how far starts spread."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import timedelta

from sempre.domain.states import State
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import now_of


def test_a_schedule_ends_with_its_last_slot(store: Store) -> None:
    """The bound is inclusive; later slots are neither run nor recorded."""
    shop = Workshop(store)
    shop.behind(catch_up=True, until=shop.ago(14))

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44, 34, 24, 14]
    assert shop.ranges() == []
    schedule = shop.row()
    assert (schedule.ended, schedule.next_run_at) == (True, None)


def test_a_schedule_ends_when_its_limit_is_reached(store: Store) -> None:
    """The start that reaches the limit writes no next row."""
    shop = Workshop(store)
    shop.behind(catch_up=True, limit=2)
    worker = shop.worker(holding=True)

    [first] = worker.turn()
    worker.end(first)
    [second] = worker.turn()

    assert shop.minutes_of([first, second]) == [44, 34]
    schedule = shop.row()
    assert (schedule.ended, schedule.starts, schedule.next_run_at) == (True, 2, None)
    worker.end(second)
    assert worker.turn() == []
    assert [row.state for row in shop.rows() if row.is_live] == []


def test_a_limit_counts_first_starts_and_not_retries(store: Store) -> None:
    """An execution that is released and begun again is one start."""
    shop = Workshop(store)
    shop.behind(catch_up=True, limit=1)
    first = shop.worker(holding=True)
    [execution] = first.turn()

    first.stop(drain=0)
    [again] = shop.worker().turn()

    assert again.id == execution.id
    assert shop.row().starts == 1
    assert [row.state for row in shop.rows()] == [State.SUCCEEDED]


def test_a_manual_run_does_not_count_towards_a_limit(store: Store) -> None:
    """A limit that is reached does not stop manual runs either."""
    shop = Workshop(store)
    shop.behind(catch_up=True, limit=1)
    worker = shop.worker()

    shop.schedule().trigger()
    assert len(worker.work_off()) == 2
    assert shop.row().ended
    shop.schedule().trigger()

    assert len(worker.work_off()) == 1
    assert shop.row().starts == 1


def test_the_spread_of_a_slot_is_the_same_whoever_places_it(store: Store) -> None:
    """One process places the row; after an edit another process replaces it at an equal due_at."""
    shop = Workshop(store)
    shop.due(jitter="20m")
    shop.worker().work_off()
    placed = [row for row in shop.rows() if row.is_live]

    shop.schedule().edit(priority=7)

    [before], [after] = placed, [row for row in shop.rows() if row.is_live]
    assert before.id != after.id
    assert (before.run_at, before.due_at) == (after.run_at, after.due_at)
    assert timedelta(0) <= after.due_at - after.run_at < timedelta(minutes=20)


def test_nothing_begins_before_its_jitter_is_over(store: Store) -> None:
    """Of many rows whose slot has passed, only rows whose due_at has passed begin."""
    shop = Workshop(store)
    names = [f"billing-{number}" for number in range(12)]
    rows = [row for name in names for row in shop.due(name, jitter="1h").rows]
    before = now_of(store)

    begun = {row.id for row in shop.worker(hands=20).turn()}

    assert {row.id for row in rows if row.due_at <= before} <= begun
    assert all(row.due_at > before for row in rows if row.id not in begun)
    after = now_of(store)
    assert all(row.due_at <= after for row in rows if row.id in begun)
