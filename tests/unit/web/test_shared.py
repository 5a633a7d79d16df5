from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Event

import pytest

from sempre.testing.travel.clock import TravelClock
from sempre.web.shared import MOST, Shared

START = datetime(2026, 3, 29, tzinfo=UTC)


def test_many_pages_at_once_cost_one_reading() -> None:
    shared, readings = Shared(TravelClock(START)), count(1)

    def visit(_number: int) -> int:
        return shared.value("overview", lambda: next(readings))

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(visit, range(50)))

    assert seen == [1] * 50


def test_a_reading_is_made_again_after_a_second_or_a_change() -> None:
    clock = TravelClock(START)
    shared, readings = Shared(clock), count(1)

    def visit() -> int:
        return shared.value("overview", lambda: next(readings))

    assert (visit(), visit()) == (1, 1)
    clock.move_to(START + timedelta(seconds=1.5))
    assert visit() == 2
    shared.forget()
    assert visit() == 3


def test_a_slow_reading_delays_no_other_page() -> None:
    shared = Shared(TravelClock(START))
    begun, done = Event(), Event()

    def slow() -> str:
        begun.set()
        assert done.wait(10)
        return "forecast"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shared.value, "forecast", slow)
        assert begun.wait(10)
        assert shared.value("overview", lambda: "overview") == "overview"
        done.set()
        assert waiting.result(10) == "forecast"


def test_readings_by_many_filters_are_bounded() -> None:
    shared, readings = Shared(TravelClock(START)), count(1)

    for number in range(MOST + 1):
        shared.value(f"forecast {number}", lambda: next(readings), seconds=60)

    assert shared.value(f"forecast {MOST}", lambda: next(readings), seconds=60) == MOST + 1
    assert shared.value("forecast 0", lambda: next(readings), seconds=60) == MOST + 2


def test_a_reading_that_fails_is_made_again() -> None:
    shared = Shared(TravelClock(START))

    with pytest.raises(ZeroDivisionError):
        shared.value("forecast", lambda: 1 // 0)

    assert shared.value("forecast", lambda: 2) == 2
