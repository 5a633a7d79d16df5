from datetime import UTC, datetime, timedelta

import pytest

from sempre.app.times import format_age, format_duration, format_instant, json_instant, zone_of
from sempre.grids import Cron, Every, Grid

NOW = datetime(2026, 3, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "zone", "text"),
    [
        (datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "Europe/Rome", "Sun 29 Mar 01:59 +01:00"),
        (datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "Europe/Rome", "Sun 29 Mar 03:00 +02:00"),
        (datetime(2026, 3, 29, 1, 0, 7, tzinfo=UTC), "UTC", "Sun 29 Mar 01:00:07 UTC"),
        (datetime(2027, 1, 1, tzinfo=UTC), "UTC", "Fri 1 Jan 2027 00:00 UTC"),
        (datetime(2026, 3, 28, 12, tzinfo=UTC), "America/St_Johns", "Sat 28 Mar 09:30 -02:30"),
    ],
)
def test_an_instant_is_shown_on_the_clocks_of_its_zone_with_a_label(
    instant: datetime, zone: str, text: str
) -> None:
    assert format_instant(instant, zone, now=NOW) == text


def test_the_year_is_left_out_only_where_the_zone_is_in_the_present_one() -> None:
    new_year = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)

    assert format_instant(new_year, "Europe/Rome", now=NOW) == "Fri 1 Jan 2027 00:30 +01:00"
    assert format_instant(new_year, "UTC", now=NOW) == "Thu 31 Dec 23:30 UTC"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.0034, "3ms"),
        (0.84, "0.8s"),
        (3.0, "3s"),
        (12.3, "12s"),
        (119, "119s"),
        (240, "4m"),
        (7 * 3600, "7h"),
        (3 * 86_400, "3d"),
        (-12.3, "-12s"),
    ],
)
def test_a_length_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert format_duration(timedelta(seconds=seconds)) == text


def test_an_instant_is_so_long_ago_or_comes_in_so_long() -> None:
    assert format_age(NOW - timedelta(minutes=3), NOW) == "3m ago"
    assert format_age(NOW + timedelta(hours=7), NOW) == "in 7h"


def test_json_has_instants_in_utc() -> None:
    assert json_instant(datetime.fromisoformat("2026-03-29T03:00+02:00")) == "2026-03-29T01:00:00Z"
    assert json_instant(None) is None


def test_a_grid_without_a_zone_is_shown_in_utc() -> None:
    class Tides(Grid):
        def after(self, t: datetime) -> datetime | None:
            return t + timedelta(hours=12)

    assert zone_of(Tides()) == zone_of(None) == "UTC"
    assert zone_of(Cron("@daily", timezone="Asia/Tokyo")) == "Asia/Tokyo"
    assert zone_of(Every("1h")) == "UTC"
