from datetime import UTC, datetime

from sempre.engine.breaker import Breaker


class Steady:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def elapsed(self) -> float:
        return self.seconds


def test_a_new_breaker_lets_everything_through() -> None:
    breaker = Breaker(Steady())
    assert not breaker.is_open
    assert breaker.rest == 0.0


def test_the_rest_after_failures_doubles_up_to_a_bound() -> None:
    breaker = Breaker(Steady(), first=1.0, longest=5.0)
    assert [breaker.failed() for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_rest_that_is_over_allows_one_more_try_though_the_breaker_is_open() -> None:
    clock = Steady()
    breaker = Breaker(clock)
    breaker.failed()
    assert breaker.rest == 1.0
    clock.seconds += 1.0
    assert breaker.rest == 0.0
    assert breaker.is_open


def test_a_success_closes_and_says_whether_that_was_news() -> None:
    breaker = Breaker(Steady())
    breaker.failed()
    assert breaker.succeeded()
    assert not breaker.succeeded()
    assert breaker.rest == 0.0


def test_ten_thousand_failures_in_a_row_do_not_overflow() -> None:
    breaker = Breaker(Steady())
    for _ in range(10_000):
        assert breaker.failed() <= 30.0
