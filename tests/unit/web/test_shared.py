from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

from sempre.testing.travel.clock import TravelClock
from sempre.web.shared import Shared

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
