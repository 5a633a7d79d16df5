"""Points: an instant by its date, or by how far off it is."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre.errors import InstantError, IntervalError
from sempre.grids.relative_instants import read_in_zone, read_point

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 16, 14, tzinfo=UTC)


@pytest.mark.parametrize("value", [LATER, "2026-11-16 14:00Z", "2h", timedelta(hours=2), 7200])
def test_a_date_and_a_length_of_time_name_the_same_point(value: datetime | str | float) -> None:
    assert read_point("until", value, now=lambda: NOON) == LATER


def test_a_length_of_time_may_be_counted_back() -> None:
    assert read_point("since", "2h", now=lambda: LATER, ago=True) == NOON


def test_for_a_date_nobody_asks_what_time_it_is() -> None:
    def never() -> datetime:
        raise AssertionError

    assert read_point("until", "2026-11-16 14:00Z", now=never) == LATER


def test_a_datetime_without_a_zone_is_refused_where_no_zone_is_stated() -> None:
    with pytest.raises(InstantError, match="until"):
        read_point("until", LATER.replace(tzinfo=None), now=lambda: NOON)


@pytest.mark.parametrize("value", ["2026-11-16 15:00", LATER.replace(hour=15, tzinfo=None)])
def test_a_date_without_a_zone_is_told_by_the_clocks_of_the_stated_one(
    value: datetime | str,
) -> None:
    assert read_point("until", value, now=lambda: NOON, timezone="Europe/Rome") == LATER


def test_a_text_without_a_zone_is_utc_where_no_zone_is_stated() -> None:
    assert read_point("until", "2026-11-16 14:00", now=lambda: NOON) == LATER


@pytest.mark.parametrize(
    ("wall", "instant"),
    [
        ("2026-03-29 02:30", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        ("2026-10-25 02:30", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        ("2080-07-01 12:00", datetime(2080, 7, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_time_that_the_clock_skips_moves_and_one_it_repeats_is_the_first(
    wall: str, instant: datetime
) -> None:
    assert read_in_zone("until", wall, "Europe/Rome") == instant


@pytest.mark.parametrize("value", ["soon", "-2h", ""])
def test_what_is_no_length_of_time_is_refused(value: str) -> None:
    with pytest.raises(IntervalError, match="until"):
        read_point("until", value, now=lambda: NOON)
