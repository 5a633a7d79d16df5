"""Contracts of fairness: urgent work goes first, and yet nothing waits for ever."""

# ruff: noqa: S101 - a contract asserts

from sempre.grids import Every
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import MINUTE, enqueued

SWEEP = 10 * MINUTE


def test_work_of_low_priority_begins_though_urgent_work_waits(store: Store) -> None:
    """Work that has been due for two sweeps goes first once per sweep, then priority decides."""
    shop = Workshop(store)
    last, other = (enqueued(store, priority=2000, due_in=-45 * MINUTE) for _ in range(2))
    urgent = {enqueued(store, priority=1) for _ in range(3)}

    begun = [row.id for row in shop.worker(hands=1, sweep=SWEEP).work_off()]

    assert begun[0] in {last, other}
    assert set(begun[1:4]) == urgent
    assert begun[4] in {last, other} - {begun[0]}


def test_a_slot_of_low_priority_begins_though_urgent_ones_wait(store: Store) -> None:
    """Also if an older one must wait for another execution and is left alone."""
    shop = Workshop(store)
    recent = Every("1h", anchor=shop.ago(5))
    for number in range(3):
        shop.due(f"urgent-{number}", priority=1, grid=recent)
    busy = shop.worker(holding=True, hands=1, jobs="dun")
    shop.under_way(busy, "blocked", job="dun", overlap="wait", priority=2000)
    shop.due("last", priority=2000, grid=Every("1h", anchor=shop.ago(25)))

    [begun] = shop.worker(hands=1, holding=True, jobs="bill dun", sweep=SWEEP).turn()

    assert begun.snapshot.name == "last"


def test_work_that_is_not_overdue_waits_for_what_is_urgent(store: Store) -> None:
    """Up to two sweeps the order is that of priority alone."""
    shop = Workshop(store)
    last = enqueued(store, priority=2000, due_in=-15 * MINUTE)
    urgent = enqueued(store, priority=1)

    begun = shop.worker(hands=1, sweep=SWEEP).work_off()

    assert [row.id for row in begun] == [urgent, last]
