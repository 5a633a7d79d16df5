"""Limits of children: never early, first a request and then a kill, each once."""

from datetime import UTC, datetime

from sempre.executors.process.time_limits import LONGEST_WAIT, TimeLimits


class Clock:
    """A clock that is set by hand."""

    at = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 5, 4, tzinfo=UTC)

    def elapsed(self) -> float:
        return self.at


def test_a_child_is_due_at_its_limit_and_again_when_its_grace_is_over() -> None:
    clock = Clock()
    limits = TimeLimits(clock, grace=5.0)
    limits.set(1, 1010)
    limits.set(2, 1030)
    assert (limits.wait(), limits.due()) == (10_000, [])

    clock.at = 1010.0
    assert (limits.wait(), limits.due()) == (0, [1])
    assert limits.ask(1)
    assert (limits.wait(), limits.due()) == (5_000, [])

    clock.at = 1015.0
    assert limits.due() == [1]
    assert (limits.wait(), limits.due()) == (15_000, [])


def test_a_child_that_was_asked_to_end_gets_no_other_limit_and_no_second_request() -> None:
    clock = Clock()
    limits = TimeLimits(clock, grace=5.0)
    limits.set(1, 1010)

    assert limits.ask(1)
    assert not limits.ask(1)
    limits.set(1, 9999)

    assert limits.has_asked(1)
    clock.at = 1005.0
    assert limits.due() == [1]


def test_a_child_that_is_gone_leaves_nothing_behind() -> None:
    clock = Clock()
    limits = TimeLimits(clock, grace=5.0)
    limits.set(1, 1010)
    limits.ask(1)
    limits.forget(1)

    clock.at = 2000.0

    assert limits.due() == []
    assert not limits.has_asked(1)
    assert limits.wait() is None


def test_a_far_limit_is_polled_as_a_wait_does_not_count_suspended_time() -> None:
    limits = TimeLimits(Clock(), grace=5.0)
    limits.set(1, 50_000)

    assert limits.wait() == 1000 * LONGEST_WAIT
