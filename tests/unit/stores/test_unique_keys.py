"""The executions of a unique key: which one forbids another, and for how long after failures."""

from datetime import timedelta

import pytest

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.ports.messages import Backoff, UniqueKey, Work
from sempre.stores.unique_keys import KeyHolder, KeyHolders
from tests.unit.domain.builders import at

LIVE, ACTIVE = UniqueKey("key", "live"), UniqueKey("key", "active")
HOURLY = UniqueKey("key", "period", timedelta(hours=1))


def holders(*rows: KeyHolder) -> KeyHolders:
    return KeyHolders(rows[-1], {row.id: row for row in rows})


def held(state: State, clock: str = "12:00", identity: str = "one", failures: int = 0) -> KeyHolder:
    return KeyHolder(at(clock), identity, state, failures, at(clock))


@pytest.mark.parametrize(
    ("unique", "state", "other"),
    [
        (LIVE, State.PENDING, "one"),
        (LIVE, State.RUNNING, ""),
        (ACTIVE, State.RUNNING, "one"),
        (ACTIVE, State.FAILED, ""),
        (HOURLY, State.SUCCEEDED, "one"),
    ],
)
def test_a_mode_says_which_states_forbid_another(
    unique: UniqueKey, state: State, other: str
) -> None:
    assert holders(held(state)).in_the_way(unique, at("12:30")) == other


def test_after_its_period_an_execution_forbids_no_other() -> None:
    assert holders(held(State.PENDING)).in_the_way(HOURLY, at("13:00")) == ""


def test_an_execution_does_not_stand_in_its_own_way() -> None:
    found = holders(held(State.RUNNING))

    assert found.in_the_way(ACTIVE, at("12:30"), besides="one") == ""
    assert found.in_the_way(HOURLY, at("12:30"), besides="one") == ""


def test_of_several_the_newest_is_named() -> None:
    found = holders(held(State.PENDING), held(State.PENDING, "12:01", "two"))

    assert found.in_the_way(LIVE, at("12:30")) == "two"


@pytest.mark.parametrize(
    ("state", "failures"),
    [(State.FAILED, 3), (State.RUNNING, 2), (State.PENDING, 2), (State.SUCCEEDED, 0)],
)
def test_a_streak_of_failures_ends_with_a_success(state: State, failures: int) -> None:
    assert holders(held(state, failures=2)).failures == failures


def test_a_key_without_executions_refuses_nothing() -> None:
    assert KeyHolders().failures == 0
    assert KeyHolders().in_the_way(HOURLY, at("12:00")) == ""


def test_after_failures_a_key_is_refused_twice_as_long_each_time() -> None:
    backoff = Backoff(timedelta(minutes=1), timedelta(hours=1))
    row = Execution(
        id="two",
        kind=Kind.ENQUEUED,
        run_at=at("12:00"),
        due_at=at("12:00"),
        created_at=at("12:00"),
        snapshot=Snapshot(name="job", job="job"),
    )
    work, found = Work(row, LIVE, backoff), holders(held(State.FAILED, failures=2))

    refusal = found.refusal(work, LIVE, at("12:03"))

    assert refusal is not None
    assert (refusal.failures, refusal.waits_until) == (3, at("12:04"))
    assert found.refusal(work, LIVE, at("12:04")) is None
