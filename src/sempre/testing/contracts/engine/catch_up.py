"""Contracts of catch-up: what becomes of slots that passed while no worker ran."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from sempre.domain.states import State
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop


def _ranges(shop: Workshop) -> list[tuple[int, int, int, str]]:
    """Return the ranges of a schedule: from and to by minutes ago, how many, and why."""
    return [
        (shop.minutes(each.first), shop.minutes(each.last), each.count, each.reason)
        for each in shop.ranges()
    ]


def test_without_catching_up_the_waiting_slot_runs_and_the_rest_is_one_range(store: Store) -> None:
    """The schedule is back in the present after one run."""
    shop = Workshop(store)
    shop.behind()

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44]
    assert _ranges(shop) == [(34, 4, 4, "missed")]
    assert shop.told() == [(44, "succeeded"), (-6, "scheduled")]


def test_catching_up_runs_every_slot_in_order_one_at_a_time(store: Store) -> None:
    """While one slot runs no other begins, even if the worker has free places."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    worker = shop.worker(holding=True)
    seen = []

    while begun := worker.turn():
        [execution] = begun
        seen.append(shop.minutes(execution.run_at))
        assert worker.turn() == []
        worker.end(execution)

    assert seen == [44, 34, 24, 14, 4]
    assert shop.ranges() == []


def test_a_schedule_that_catches_up_is_back_in_the_present_afterwards(store: Store) -> None:
    """The next row is the first future slot, and every run was a first attempt."""
    shop = Workshop(store)
    shop.behind(catch_up=True)

    begun = shop.worker().work_off()

    assert [row.attempt for row in begun] == [1] * 5
    assert [row.state for row in shop.rows()] == [State.SUCCEEDED] * 5 + [State.SCHEDULED]
    assert shop.row().next_run_at == shop.ago(-6)
    assert shop.row().starts == 5


def test_catching_up_within_a_time_leaves_older_slots_out(store: Store) -> None:
    """But for the one that was waiting; the rest is one range."""
    shop = Workshop(store)
    shop.behind(catch_up=True, catch_up_within="20m")

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44, 14, 4]
    assert _ranges(shop) == [(34, 24, 2, "missed")]


def test_catching_up_at_most_so_many_runs_the_newest(store: Store) -> None:
    """Besides the one that was waiting."""
    shop = Workshop(store)
    shop.behind(catch_up=True, catch_up_max=1)

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44, 4]
    assert _ranges(shop) == [(34, 14, 3, "missed")]


def test_a_hiccup_within_tolerance_loses_nothing(store: Store) -> None:
    """Every slot runs, though the schedule does not catch up after a downtime."""
    shop = Workshop(store)
    shop.behind(tolerance="50m")

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44, 34, 24, 14, 4]
    assert shop.ranges() == []


def test_what_is_within_tolerance_still_runs_after_a_downtime(store: Store) -> None:
    """The waiting slot runs, slots older than the tolerance are missed, the rest runs."""
    shop = Workshop(store)
    shop.behind(tolerance="8m")

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [44, 4]
    assert _ranges(shop) == [(34, 14, 3, "missed")]


def test_slots_past_their_deadline_are_one_range(store: Store) -> None:
    """None of the slots starts; the waiting row holds the reason."""
    shop = Workshop(store)
    [row] = shop.behind(deadline="1m", catch_up=True).rows

    begun = shop.worker().work_off()

    assert begun == []
    assert _ranges(shop) == [(34, 4, 4, "missed")]
    missed, following = shop.rows()
    assert (missed.id, missed.state, missed.reason) == (row.id, State.MISSED, "deadline")
    assert following.run_at == shop.ago(-6)
    assert shop.row().starts == 0


def test_a_slot_past_its_deadline_is_missed_and_one_within_it_still_runs(store: Store) -> None:
    """Also without catch-up: only slots past their deadline are given up at once."""
    shop = Workshop(store)
    shop.behind(deadline="20m", tolerance="20m")

    begun = shop.worker().work_off()

    assert shop.minutes_of(begun) == [14, 4]
    assert shop.told()[0] == (44, "missed")
    assert _ranges(shop) == [(34, 24, 2, "missed")]
