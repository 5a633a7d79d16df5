"""Intervals and durations as people write them."""

from datetime import timedelta

import pytest

from sempre import Every
from sempre.errors import IntervalError
from sempre.grids.intervals import read_duration, read_interval

CENTURY = 100 * 366 * 86_400


@pytest.mark.parametrize(
    ("written", "count", "unit"),
    [
        ("15m", 15, "minutes"),
        ("15 m", 15, "minutes"),
        (" 15  minutes ", 15, "minutes"),
        ("every 15 minutes", 15, "minutes"),
        ("1 minute", 1, "minutes"),
        ("90s", 90, "seconds"),
        ("30 sec", 30, "seconds"),
        ("2h", 2, "hours"),
        ("2 hrs", 2, "hours"),
        ("1h30m", 90, "minutes"),
        ("1h 30m", 90, "minutes"),
        ("1 hour 30 minutes 15 seconds", 5415, "seconds"),
        ("1h60m", 2, "hours"),
        ("1.0h", 1, "hours"),
        ("1d", 1, "days"),
        ("3 days", 3, "days"),
        ("2w", 2, "weeks"),
        ("1 mo", 1, "months"),
        ("6 Months", 6, "months"),
        ("1y", 1, "years"),
        ("100 years", 100, "years"),
        (3600, 1, "hours"),
        (90, 90, "seconds"),
        (90.0, 90, "seconds"),
        (86_400, 24, "hours"),
        (timedelta(minutes=15), 15, "minutes"),
        (timedelta(days=1), 24, "hours"),
        (timedelta(days=7, seconds=1), 604_801, "seconds"),
    ],
)
def test_an_interval_is_read_as_written(written: object, count: int, unit: str) -> None:
    interval = read_interval(written)

    assert (interval.count, interval.unit) == (count, unit)
    assert read_interval(str(interval)) == interval


@pytest.mark.parametrize("unit", ["weeks", "week", "w", "wk", "Weeks", "WEEK"])
def test_a_number_may_have_its_unit_beside_it(unit: str) -> None:
    interval = read_interval(2, unit)

    assert (interval.count, interval.unit) == (2, "weeks")
    assert Every(2, unit) == Every("2 weeks")
    assert Every("2", unit) == Every("2 weeks")


def test_m_is_minutes_and_mo_is_months() -> None:
    assert Every("1m") == Every("60s")
    assert Every("1mo") == Every("1 month")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("60m", "1h"),
        ("7 days", "1 week"),
        ("12 months", "1 year"),
        (3600, "1h"),
        (timedelta(hours=36), "36h"),
    ],
)
def test_intervals_of_one_length_are_equal_grids(one: object, other: object) -> None:
    assert Every(one) == Every(other)
    assert hash(Every(one)) == hash(Every(other))


@pytest.mark.parametrize(
    ("one", "other"), [("24h", "1 day"), ("168h", "1 week"), ("30 days", "1 month")]
)
def test_elapsed_time_and_the_calendar_are_different_grids(one: object, other: object) -> None:
    assert Every(one) != Every(other)


@pytest.mark.parametrize(
    "value", [CENTURY, f"{CENTURY}s", "1200 months", "100 years", "5228 weeks"]
)
def test_a_century_is_the_longest_interval(value: object) -> None:
    assert read_interval(value).count >= 1


@pytest.mark.parametrize(
    "value", [CENTURY + 1, "1201 months", "101 years", "5230 weeks", "36601 days", timedelta.max]
)
def test_more_than_a_century_is_refused(value: object) -> None:
    with pytest.raises(IntervalError, match="at most 100 years"):
        read_interval(value)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("5", '"5s"'),
        ("1 day 2 hours", "48 hours"),
        ("1.5h", "smaller unit"),
        (0.5, "smaller unit"),
        ("0 9 * * *", "Cron"),
    ],
)
def test_a_refusal_tells_the_likely_intention(value: object, hint: str) -> None:
    with pytest.raises(IntervalError) as refused:
        read_interval(value)

    assert hint in refused.value.hint


def test_an_unknown_unit_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(IntervalError, match="hours") as refused:
        Every(2, "huors")

    assert refused.value.field == "unit"
    assert refused.value.value == "huors"


@pytest.mark.parametrize("text", ["1h-30m", "1h -30m", "-30m 1h"])
def test_a_sign_inside_a_text_is_refused(text: str) -> None:
    with pytest.raises(IntervalError):
        read_interval(text)


# Durations


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("15m", timedelta(minutes=15)),
        ("1h30m", timedelta(minutes=90)),
        ("1 day 2 hours", timedelta(hours=26)),
        ("0.5s", timedelta(milliseconds=500)),
        ("30", timedelta(seconds=30)),
        (30, timedelta(seconds=30)),
        (0.25, timedelta(milliseconds=250)),
        (0, timedelta(0)),
        (timedelta(days=2), timedelta(days=2)),
    ],
)
def test_a_duration_is_read_as_written(written: object, expected: timedelta) -> None:
    assert read_duration("timeout", written) == expected


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "1 month",
        "1y",
        -1,
        "-5m",
        float("nan"),
        float("inf"),
        True,
        None,
        [],
        b"5m",
        1e300,
    ],
)
def test_what_is_no_duration_is_refused_by_its_field(value: object) -> None:
    with pytest.raises(IntervalError) as refused:
        read_duration("timeout", value)

    assert refused.value.allowed


def test_a_duration_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(IntervalError):
        read_duration("timeout", 10**400)


def test_a_duration_may_have_a_least_value() -> None:
    assert read_duration("lease", "1s", least=timedelta(seconds=1)) == timedelta(seconds=1)
    with pytest.raises(IntervalError, match="1s or more"):
        read_duration("lease", "0.9s", least=timedelta(seconds=1))
