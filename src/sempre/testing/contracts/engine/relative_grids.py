"""Contracts of relative grids, whose next slot depends on the one before: no slot is made up."""

# ruff: noqa: S101 - a contract asserts

from datetime import datetime, timedelta

from sempre.domain.states import Kind
from sempre.grids import Grid
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop

TEN = timedelta(minutes=10)


class _FromLast(Grid, name="sempre contract: from last"):
    """A user's grid: ten minutes after the given instant."""

    relative = True

    def after(self, t: datetime) -> datetime | None:
        """Return the instant ten minutes later."""
        return t + TEN


def _behind(shop: Workshop) -> tuple[datetime, list[datetime]]:
    """Let slots of a relative grid have passed while no worker ran, and the waiting one have run.

    Returns:
        The slot that ran, and the slots that were missed.
    """
    [row] = shop.due(grid=_FromLast()).rows
    shop.worker().work_off()
    [missed] = shop.ranges()
    slots = [missed.first + number * TEN for number in range(missed.count)]
    assert slots[0] == row.run_at + TEN
    assert slots[-1] == missed.last
    return row.run_at, slots


def test_a_backfill_of_a_relative_grid_takes_slots_on_record(store: Store) -> None:
    """Succeeded slots are left alone; missed slots of a range run at their recorded instants."""
    shop = Workshop(store)
    ran, missed = _behind(shop)

    created = shop.schedule().backfill(ran, missed[-1])

    assert [row.run_at for row in created] == missed
    assert {row.kind for row in created} == {Kind.BACKFILL}


def test_a_pause_of_a_relative_grid_ends_at_one_of_its_slots(store: Store) -> None:
    """A skip does too: the row after it lies on the existing sequence of slots."""
    shop = Workshop(store)
    ran, _ = _behind(shop)
    upcoming = shop.row().next_run_at
    assert upcoming is not None

    shop.schedule().pause(until=upcoming + 2.5 * TEN)
    assert shop.row().next_run_at == upcoming + 3 * TEN
    shop.schedule().skip(upcoming + 3 * TEN)

    assert shop.row().next_run_at == upcoming + 4 * TEN
    assert (upcoming - ran) % TEN == timedelta(0)


def test_slots_to_come_of_a_relative_grid_are_counted_from_its_last_one(store: Store) -> None:
    """For any instant that a caller asks for."""
    shop = Workshop(store)
    _behind(shop)
    upcoming = shop.row().next_run_at
    assert upcoming is not None
    handle = shop.schedule()

    assert handle.next_run_at(after=upcoming - timedelta(seconds=1)) == upcoming
    wanted = [upcoming + TEN, upcoming + 2 * TEN]
    assert handle.next_run_at_times(after=upcoming + timedelta(seconds=1), count=2) == wanted
