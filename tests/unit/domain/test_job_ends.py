"""Exceptions by which a job ends its own attempt, as the job raises them."""

import copy
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sempre import GiveUp, RetryLater
from sempre.errors import InstantError, IntervalError, SempreError
from sempre.grids.instants import END_OF_CALENDAR

MINUTES = timedelta(minutes=5)


@pytest.mark.parametrize("after", ["5m", 300, MINUTES])
def test_a_wait_is_read_however_written(after: timedelta | float | str) -> None:
    asked = RetryLater(after, "busy")

    assert (asked.after, asked.reason, str(asked)) == (MINUTES, "busy", "busy")


def test_an_instant_is_kept_in_utc() -> None:
    rome = datetime(2030, 1, 2, 12, tzinfo=timezone(timedelta(hours=1)))

    assert RetryLater(rome).after == datetime(2030, 1, 2, 11, tzinfo=UTC)
    assert RetryLater(datetime.max.replace(tzinfo=UTC)).after == END_OF_CALENDAR


@pytest.mark.parametrize("after", ["soon", "0s", 0.5, -1, "1 month", None, timedelta.max])
def test_a_wait_that_cannot_be_kept_is_refused_where_it_is_raised(after: object) -> None:
    with pytest.raises(IntervalError) as caught:
        RetryLater(after)  # type: ignore[arg-type]

    assert caught.value.field == "RetryLater"


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(InstantError):
        RetryLater(datetime(2030, 1, 2))  # noqa: DTZ001 - that is the point


def test_a_reason_may_be_an_exception_and_may_be_left_out() -> None:
    assert RetryLater("5m", OSError("refused")).reason == "refused"  # type: ignore[arg-type]
    assert str(RetryLater("5m")) == ""
    assert str(GiveUp()) == ""
    assert str(GiveUp("no such customer")) == "no such customer"


def test_they_are_errors_of_this_package_and_can_be_copied() -> None:
    asked = RetryLater("5m", "busy")

    twin = copy.copy(asked)
    assert (twin.after, twin.reason) == (MINUTES, "busy")
    assert issubclass(GiveUp, SempreError)
    assert issubclass(RetryLater, SempreError)
