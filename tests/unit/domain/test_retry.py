"""How long a failed execution waits: doubling from the base, never over the cap."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.policies import Retry
from sempre.errors import IntervalError, InvalidInput, PolicyError

SECOND = timedelta(seconds=1)


def test_the_wait_doubles_with_each_failure() -> None:
    retry = Retry(5, base="10s", cap="10m")

    assert [retry.wait(n) // SECOND for n in range(1, 6)] == [10, 20, 40, 80, 160]


def test_the_wait_never_passes_the_cap() -> None:
    retry = Retry(9, base="10s", cap="1m")

    assert [retry.wait(n) // SECOND for n in range(3, 7)] == [40, 60, 60, 60]


def test_a_cap_equal_to_the_base_makes_every_wait_the_same() -> None:
    retry = Retry(3, base="1m", cap="1m")

    assert {retry.wait(n) for n in (1, 2, 50)} == {timedelta(minutes=1)}


@pytest.mark.parametrize("failures", [100, 10_000, 10**9, 10**30])
def test_a_huge_number_of_failures_waits_for_the_cap(failures: int) -> None:
    assert Retry(10**6, base="1s", cap="100d").wait(failures) == timedelta(days=100)


@given(
    failures=st.integers(1, 10**12),
    base=st.integers(1, 10**9),
    more=st.integers(0, 10**9),
)
def test_any_wait_lies_between_base_and_cap_and_never_shrinks(
    failures: int, base: int, more: int
) -> None:
    retry = Retry(1, base=base, cap=base + more)

    wait = retry.wait(failures)

    assert retry.base <= wait <= retry.cap
    assert wait <= retry.wait(failures + 1)
    assert wait // SECOND == min(base + more, base * 2 ** min(failures - 1, 40))


def test_by_default_nothing_is_tried_again() -> None:
    assert Retry().limit == 0


@pytest.mark.parametrize("limit", [-1, True, 2.0, "3", None, [3]])
def test_a_limit_must_be_a_whole_number(limit: object) -> None:
    with pytest.raises(PolicyError) as caught:
        Retry(limit)  # type: ignore[arg-type]

    assert caught.value.field == "retry"
    assert caught.value.value == limit
    assert caught.value.allowed == "a whole number of 0 or more"


@pytest.mark.parametrize("base", ["0s", -5, "1 month", "soon", None, float("nan"), float("inf")])
def test_a_base_must_be_a_duration_of_a_second_or_more(base: object) -> None:
    with pytest.raises(IntervalError) as caught:
        Retry(1, base=base)  # type: ignore[arg-type]

    assert caught.value.field == "retry base"


def test_a_cap_below_the_base_is_refused_and_the_base_named() -> None:
    with pytest.raises(PolicyError) as caught:
        Retry(1, base="10m", cap="1m")

    assert caught.value.field == "retry cap"
    assert caught.value.value == "1m"
    assert "10m" in caught.value.allowed


@pytest.mark.parametrize("longest", [timedelta.max, timedelta(days=999_999_999)])
def test_a_wait_that_no_calendar_holds_is_refused(longest: timedelta) -> None:
    with pytest.raises(InvalidInput) as caught:
        Retry(3, base="1s", cap=longest)

    assert caught.value.field == "retry cap"


def test_a_wait_of_absurd_seconds_is_refused_as_bad_input() -> None:
    with pytest.raises(InvalidInput):
        Retry(3, base=10**400)


def test_equal_policies_are_equal_however_written() -> None:
    assert Retry(3, base="1m", cap="1h") == Retry(3, base=60, cap=timedelta(hours=1))
