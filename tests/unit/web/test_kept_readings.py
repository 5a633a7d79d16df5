"""Kept readings: made in a thread, shared, and renewed without making a page wait."""

from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Event

import pytest

from sempre.errors import StoreUnavailable
from sempre.testing.travel.clock import TravelClock
from sempre.web.shared import Shared

START = datetime(2026, 3, 29, tzinfo=UTC)


def test_a_moments_reading_may_ask_for_a_kept_one() -> None:
    shared = Shared(TravelClock(START))

    found = shared.value("overview", lambda: shared.kept("health", lambda: 42).value)

    assert found == 42


def test_a_page_does_not_wait_for_a_slow_reading_and_tells_the_age_of_the_last() -> None:
    clock, numbers, may_end = TravelClock(START), count(1), Event()
    shared = Shared(clock)

    def read() -> int:
        number = next(numbers)
        if number > 1:
            may_end.wait(30)
        return number

    assert shared.kept("health", read).value == 1
    clock.move_to(START + timedelta(seconds=30))
    late = shared.kept("health", read)
    may_end.set()

    assert (late.value, late.age, late.is_old) == (1, 30.0, True)


def test_a_change_renews_a_kept_reading_at_once() -> None:
    shared, numbers = Shared(TravelClock(START)), count(1)

    def read() -> int:
        return next(numbers)

    assert [shared.kept("health", read).value for _ in range(3)] == [1, 1, 1]
    shared.forget()
    assert shared.kept("health", read).value == 2


def test_a_reading_that_failed_is_raised_and_made_again() -> None:
    shared, numbers = Shared(TravelClock(START)), count(1)

    def read() -> int:
        if next(numbers) == 1:
            raise StoreUnavailable("no answer")
        return 7

    with pytest.raises(StoreUnavailable):
        shared.kept("health", read)
    assert shared.kept("health", read).value == 7
