from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.engine.capacity import FEW, MOST_PARKED, MOST_UNRECORDED, Capacity
from sempre.ports.executor import Run, Task
from tests.unit.engine.test_breaker import Steady

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROW = Execution(
    id="e0",
    kind=Kind.ENQUEUED,
    run_at=NOW,
    due_at=NOW,
    created_at=NOW,
    snapshot=Snapshot(name="a", job="a"),
)
TASK = Task("a", print)


def started(name: str, fence: int | None = None) -> Run:
    """Return a run of the execution e7, by default under fence 7, and so on."""
    return Run(replace(ROW, id=name, fence=fence or int(name[1:])), TASK)


@pytest.fixture
def clock() -> Steady:
    return Steady()


@pytest.fixture
def capacity(clock: Steady) -> Capacity:
    return Capacity(2, clock)


def test_a_worker_that_knows_nothing_asks_for_its_free_hands_only(capacity: Capacity) -> None:
    assert capacity.appetite == 2
    assert capacity.admit([started("e1")])
    assert capacity.appetite == 1


def test_whoever_waited_for_a_hand_is_told_how_many_whatever_happens_next(
    capacity: Capacity,
) -> None:
    limit = capacity.wait_for_hand(0)
    capacity.set_stuck(2)

    assert (limit, capacity.wait_for_hand(0)) == (2, 0)


def test_with_short_jobs_it_asks_for_what_is_done_within_a_second(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 0.1)
    assert capacity.appetite == 2 + 20


def test_with_very_short_jobs_it_asks_for_few_and_then_for_twice_what_came(
    capacity: Capacity,
) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 0.001)
    assert capacity.appetite == 2 + FEW

    capacity.admit([started(f"e{number}") for number in range(2, 302)])
    assert capacity.appetite == 2 * 300
    capacity.admit([started("e302")])
    assert capacity.appetite == 300
    capacity.admit([started(f"e{number}") for number in range(303, 1303)])
    assert capacity.appetite == MOST_PARKED - 300 - 1 - 1000 + 2


def test_with_long_jobs_it_never_asks_for_more_than_its_free_hands(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 30.0)
    assert capacity.appetite == 2
    capacity.admit([started("e2")])
    capacity.admit([started("e3")])
    assert capacity.appetite == 0


def test_what_finds_no_hand_is_parked_and_follows_the_next_end(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.admit([started("e2")])
    assert not capacity.admit([started("e3")])
    done, following = capacity.finish(1, 0.1)
    assert done == started("e1")
    assert following == started("e3")
    assert {each.execution.id for each in capacity.running()} == {"e2", "e3"}


def test_with_runs_parked_it_asks_again_when_half_of_them_are_done(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 0.1)
    for number in range(1, 23):
        capacity.admit([started(f"e{number}")])
    assert not capacity.is_hungry

    for number in range(1, 10):
        capacity.finish(number, 0.1)
    assert capacity.appetite == 9
    assert not capacity.is_hungry

    capacity.finish(10, 0.1)
    assert capacity.appetite == 10
    assert capacity.is_hungry


def test_what_is_parked_for_a_second_is_given_back(capacity: Capacity, clock: Steady) -> None:
    for name in ("e1", "e2", "e3"):
        capacity.admit([started(name)])
    assert capacity.overstayed() == []
    clock.seconds += 1.0
    assert capacity.overstayed() == [started("e3")]
    assert capacity.overstayed() == []


def test_a_run_that_does_not_let_go_keeps_its_hand(capacity: Capacity) -> None:
    capacity.set_stuck(1)
    assert capacity.free == 1
    capacity.set_stuck(5)
    assert capacity.free == 0


def test_an_end_that_was_already_taken_away_is_nobodys(capacity: Capacity) -> None:
    assert capacity.finish(7, 0.1) == (None, None)


def test_waiting_for_the_end_ends_when_somebody_is_in_a_hurry(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.give_up()
    assert not capacity.wait_until_idle(3600.0)


def test_two_runs_of_one_execution_are_told_apart_by_their_claim(capacity: Capacity) -> None:
    capacity.admit([started("e1", fence=1)])
    capacity.admit([started("e1", fence=2)])
    assert capacity.has_later(started("e1", fence=1))
    assert not capacity.has_later(started("e1", fence=2))
    done, _ = capacity.finish(1, 0.1)
    assert done == started("e1", fence=1)
    assert capacity.running() == [started("e1", fence=2)]


def test_hands_that_are_taken_for_long_are_not_counted_on(
    capacity: Capacity, clock: Steady
) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 0.1)
    capacity.admit([started("e2")])
    assert capacity.appetite == 1 + 20
    clock.seconds += 1.0
    assert capacity.appetite == 1 + 10
    capacity.admit([started("e3")])
    clock.seconds += 1.0
    assert capacity.appetite == 0


def test_hands_that_are_stuck_are_not_counted_on(capacity: Capacity) -> None:
    capacity.admit([started("e1")])
    capacity.finish(1, 0.1)
    capacity.set_stuck(1)
    assert capacity.appetite == 1 + 10
    capacity.set_stuck(2)
    assert capacity.appetite == 0


def test_nothing_is_asked_for_while_too_much_that_has_ended_is_not_recorded(
    capacity: Capacity,
) -> None:
    for number in range(1, MOST_UNRECORDED + 1):
        assert capacity.admit([started(f"e{number}")])
        capacity.finish(number, seconds=0.001)
    assert capacity.appetite == 0

    capacity.recorded(1)
    assert capacity.appetite == 1

    capacity.recorded(MOST_UNRECORDED - 1)
    assert capacity.appetite > 2
