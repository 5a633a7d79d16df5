"""Points: an instant by its date, or by how far off it is."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre.errors import InstantError, IntervalError
from sempre.grids.points import read_point

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


@pytest.mark.parametrize("value", ["2026-11-16 14:00", datetime(2026, 11, 16)])  # noqa: DTZ001
def test_a_date_without_a_zone_is_refused(value: datetime | str) -> None:
    with pytest.raises(InstantError, match="until"):
        read_point("until", value, now=lambda: NOON)


@pytest.mark.parametrize("value", ["soon", "-2h", ""])
def test_what_is_no_length_of_time_is_refused(value: str) -> None:
    with pytest.raises(IntervalError, match="until"):
        read_point("until", value, now=lambda: NOON)
