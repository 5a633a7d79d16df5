"""Zones whose clocks do odd things, the far ends of the calendar, and zone names."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

import pytest
import tzdata

from sempre import Cron, Every
from sempre.errors import InstantError, ZoneError
from sempre.grids.tzif import YearlyRule, read_tzif
from sempre.grids.zones import Zone, tzdata_version, zone, zone_names
from tests.property.grids.oracles import offset_at, second_of, zone_content
from tests.unit.grids.clocks import at, fires

HOWE, APIA, KWAJALEIN = "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein"
CASABLANCA, TROLL, DUBLIN = "Africa/Casablanca", "Antarctica/Troll", "Europe/Dublin"


# Lord Howe changes by half an hour: 02:00 to 02:30 in October, 02:00 to 01:30 in April.


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("15 2 * * *", "2024-10-05 14:00Z", ["2024-10-06 02:30+11:00", "2024-10-07 02:15+11:00"]),
        ("30 2 * * *", "2024-10-05 14:00Z", ["2024-10-06 02:30+11:00", "2024-10-07 02:30+11:00"]),
        ("*/15 * * * *", "2024-10-05 15:15Z", ["2024-10-06 02:30+11:00", "2024-10-06 02:45+11:00"]),
        ("45 1 * * *", "2024-04-06 14:00Z", ["2024-04-07 01:45+11:00", "2024-04-08 01:45+10:30"]),
        ("30 * * * *", "2024-04-06 14:00Z", ["2024-04-07 01:30+11:00", "2024-04-07 01:30+10:30"]),
        ("0 */2 * * *", "2024-04-06 14:00Z", ["2024-04-07 02:00+10:30", "2024-04-07 04:00+10:30"]),
    ],
)
def test_cron_at_lord_howe_changes_by_half_an_hour(
    text: str, after: str, expected: list[str]
) -> None:
    assert fires(Cron(text, timezone=HOWE), HOWE, after, 2) == expected


def test_an_anchor_at_lord_howe_moves_by_half_an_hour() -> None:
    grid = Every("1 day", anchor="2024-10-01 02:15", timezone=HOWE)

    assert fires(grid, HOWE, "2024-10-05 12:00Z", 2) == [
        "2024-10-06 02:45+11:00",
        "2024-10-07 02:15+11:00",
    ]


# Apia had no 30 December 2011; Kwajalein no 21 August 1993, and 30 September 1969 almost twice.


@pytest.mark.parametrize("gap", ["shift", "skip"])
def test_cron_does_not_make_up_for_a_lost_day(gap: str) -> None:
    grid = Cron("0 9 * * *", timezone=APIA, gap=gap)

    assert fires(grid, APIA, "2011-12-29 12:00Z", 3) == [
        "2011-12-29 09:00-10:00",
        "2011-12-31 09:00+14:00",
        "2012-01-01 09:00+14:00",
    ]


def test_cron_of_the_lost_date_waits_for_the_next_month() -> None:
    grid = Cron("0 9 30 * *", timezone=APIA)

    assert fires(grid, APIA, "2011-12-28 00:00Z", 1) == ["2012-01-30 09:00+14:00"]


def test_two_points_of_an_anchor_grid_on_one_instant_are_one_run() -> None:
    grid = Every("1 day", anchor="2011-12-28 09:00", timezone=APIA)

    assert fires(grid, APIA, "2011-12-29 12:00Z", 3) == [
        "2011-12-29 09:00-10:00",
        "2011-12-31 09:00+14:00",
        "2012-01-01 09:00+14:00",
    ]
    passed = grid.passed(at("2011-12-29 12:00Z"), at("2012-01-01 12:00Z"))
    assert passed is not None
    assert passed.count == 3


def test_a_point_on_the_lost_day_is_left_out_if_gaps_are_skipped() -> None:
    grid = Every("2 days", anchor="2011-12-28 09:00", timezone=APIA, gap="skip")

    assert fires(grid, APIA, "2011-12-29 00:00Z", 2) == [
        "2012-01-01 09:00+14:00",
        "2012-01-03 09:00+14:00",
    ]


def test_hours_go_on_through_a_lost_day() -> None:
    slots = Every("1h").between(at("2011-12-30 08:00Z"), at("2011-12-30 12:00Z"))

    assert len(slots) == 4
    assert Every("1h", timezone=APIA).between(at("2011-12-30 08:00Z"), slots[-1]) == slots


def test_kwajalein_lost_a_day_and_had_one_almost_twice() -> None:
    grid = Cron("0 12 * * *", timezone=KWAJALEIN)
    twice = Cron("0 12 * * *", timezone=KWAJALEIN, fold="both")

    assert fires(grid, KWAJALEIN, "1993-08-20 00:00-12:00", 2) == [
        "1993-08-20 12:00-12:00",
        "1993-08-22 12:00+12:00",
    ]
    assert fires(grid, KWAJALEIN, "1969-09-30 00:00+11:00", 2) == [
        "1969-09-30 12:00+11:00",
        "1969-10-01 12:00-12:00",
    ]
    assert fires(twice, KWAJALEIN, "1969-09-30 00:00+11:00", 2) == [
        "1969-09-30 12:00+11:00",
        "1969-09-30 12:00-12:00",
    ]


def test_a_month_end_on_the_lost_day_moves_into_the_next_month() -> None:
    # Kiritimati had no 31 December 1994.
    kiritimati = "Pacific/Kiritimati"
    grid = Every("1 month", anchor="1994-10-31 09:00", timezone=kiritimati)

    assert fires(grid, kiritimati, "1994-12-01 00:00Z", 2) == [
        "1995-01-01 09:00+14:00",
        "1995-01-31 09:00+14:00",
    ]
    assert fires(grid, kiritimati, "1995-01-01 08:59+14:00", 1) == ["1995-01-01 09:00+14:00"]


def test_a_gap_of_three_hours_is_the_longest_that_cron_makes_up_for() -> None:
    # Casey went from 02:00 to 05:00 on 18 October 2009.
    casey = "Antarctica/Casey"
    grid = Cron("30 3 * * *", timezone=casey)

    assert fires(grid, casey, "2009-10-17 12:00Z", 2) == [
        "2009-10-18 05:00+11:00",
        "2009-10-19 03:30+11:00",
    ]


# Casablanca is an hour behind during Ramadan only; Troll jumps by two; Dublin's winter is negative.


def test_casablanca_changes_with_ramadan() -> None:
    grid = Cron("30 2 * * *", timezone=CASABLANCA)

    assert fires(grid, CASABLANCA, "2024-03-09 12:00Z", 2) == [
        "2024-03-10 02:30+01:00",
        "2024-03-11 02:30+00:00",
    ]
    assert fires(grid, CASABLANCA, "2024-04-13 12:00Z", 2) == [
        "2024-04-14 03:00+01:00",
        "2024-04-15 02:30+01:00",
    ]


def test_troll_skips_two_hours_and_makes_up_once() -> None:
    grid = Cron("30 1,2 * * *", timezone=TROLL)
    anchored = Every("1 day", anchor="2024-03-30 01:30", timezone=TROLL)

    assert fires(grid, TROLL, "2024-03-31 00:00Z", 2) == [
        "2024-03-31 03:00+02:00",
        "2024-04-01 01:30+02:00",
    ]
    assert fires(anchored, TROLL, "2024-03-31 00:00Z", 1) == ["2024-03-31 03:30+02:00"]


def test_troll_repeats_two_hours() -> None:
    grid = Cron("30 1,2 * * *", timezone=TROLL, fold="both")

    assert fires(grid, TROLL, "2024-10-26 22:45Z", 4) == [
        "2024-10-27 01:30+02:00",
        "2024-10-27 02:30+02:00",
        "2024-10-27 01:30+00:00",
        "2024-10-27 02:30+00:00",
    ]


def test_dublin_has_its_standard_time_in_summer() -> None:
    grid = Cron("30 1 * * *", timezone=DUBLIN)

    assert fires(grid, DUBLIN, "2024-03-30 12:00Z", 2) == [
        "2024-03-31 02:00+01:00",
        "2024-04-01 01:30+01:00",
    ]
    assert fires(grid, DUBLIN, "2024-10-26 12:00Z", 2) == [
        "2024-10-27 01:30+01:00",
        "2024-10-28 01:30+00:00",
    ]
    assert fires(grid, DUBLIN, "2150-07-01 00:00Z", 1) == ["2150-07-01 01:30+01:00"]


# Before standard time clocks showed the sun's: offsets of odd seconds.


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Europe/Rome", "1850-01-01 09:00+00:49:56"),
        ("America/New_York", "1850-01-01 09:00-04:56:02"),
        ("Africa/Monrovia", "1850-01-01 09:00-00:43:08"),
        ("Asia/Kathmandu", "1850-01-01 09:00+05:41:16"),
    ],
)
def test_offsets_of_odd_seconds_are_kept(name: str, expected: str) -> None:
    assert Cron("0 9 * * *", timezone=name).after(at("1850-01-01 00:00Z")) == at(expected)
    assert Every("1 day", anchor="1849-12-01 09:00", timezone=name).after(
        at("1850-01-01 00:00Z")
    ) == at(expected)


def test_a_change_by_odd_seconds_is_made_up_for() -> None:
    # Monrovia went from -00:44:30 to 00:00 on 7 January 1972.
    grid = Cron("30 0 * * *", timezone="Africa/Monrovia")

    slots = grid.times(at("1972-01-06 12:00Z"), 2)

    assert slots == [at("1972-01-07 00:44:30Z"), at("1972-01-08 00:30Z")]


# The ends of the calendar


@pytest.mark.parametrize("year", [2100, 2400, 5000, 9990, 9998])
def test_summer_time_goes_on_in_the_far_future(year: int) -> None:
    grid = Cron("0 12 4 7,12 *", timezone="America/New_York")
    anchored = Every("1 month", anchor="2024-01-04 12:00", timezone="America/New_York")

    assert grid.times(at(f"{year}-01-01 00:00Z"), 2) == [
        at(f"{year}-07-04 16:00Z"),
        at(f"{year}-12-04 17:00Z"),
    ]
    assert anchored.after(at(f"{year}-07-01 00:00Z")) == at(f"{year}-07-04 16:00Z")


@pytest.mark.parametrize("name", ["America/New_York", "Europe/Rome", "Australia/Sydney"])
def test_the_last_year_of_the_calendar_has_its_summer_time(name: str) -> None:
    for month in (1, 7):
        noon = at(f"9999-0{month}-04 12:00Z")

        assert zone(name).offset_at(second_of(noon)) == offset_at(name, second_of(noon))


@pytest.mark.parametrize(
    "grid",
    [
        Cron("0 0 1 1 *"),
        Cron("* * * * * *", timezone="Pacific/Kiritimati"),
        Every("1s"),
        Every("1 day", timezone="Pacific/Pago_Pago"),
        Every("100 years"),
        Every("1 month", anchor="9999-12-31 23:59"),
    ],
)
def test_past_the_end_of_the_calendar_there_is_no_slot(grid: Cron | Every) -> None:
    for t in ("9999-12-31 23:59:59.999999Z", "9999-12-31 23:59:59-14:00", "9999-12-30 00:00Z"):
        moment = datetime.fromisoformat(t)
        assert grid.after(moment) is None
        assert grid.times(moment, 3) == []


def test_a_list_ends_with_the_calendar() -> None:
    start = at("9999-12-20 00:00Z")

    for grid in (Cron("0 0 * * *"), Every("1 day"), Every("24h")):
        slots = grid.times(start, 100)
        passed = grid.passed(start, at("9999-12-31 23:59Z"))
        assert 5 < len(slots) < 12
        assert grid.between(start, at("9999-12-31 23:59Z")) == slots
        assert passed is not None
        assert (passed.first, passed.last, passed.count) == (slots[0], slots[-1], len(slots))


@pytest.mark.parametrize("grid", [Cron("0 0 * * *"), Every("1h"), Every("1 day")])
@pytest.mark.parametrize("t", ["1799-12-31 23:59Z", "1000-01-01 00:00Z", "0001-01-01 00:00+14:00"])
def test_years_before_1800_are_refused(grid: Cron | Every, t: str) -> None:
    with pytest.raises(InstantError, match="1800"):
        grid.after(datetime.fromisoformat(t))


def test_the_year_1800_is_the_first() -> None:
    assert Cron("0 0 * * *").after(at("1800-01-01 00:00Z")) == at("1800-01-02 00:00Z")
    assert Every("1 day", anchor="1800-01-01").after(at("1800-01-01 00:00Z")) == at(
        "1800-01-02 00:00Z"
    )


def test_a_walk_through_centuries_does_not_begin_anew_every_few_years(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    years: list[int] = []
    fresh = Zone("America/Halifax", read_tzif(zone_content("America/Halifax")))
    of_year = YearlyRule.changes

    def counted(rule: YearlyRule, year: int) -> Iterator[tuple[int, int]]:
        years.append(year)
        return of_year(rule, year)

    monkeypatch.setattr(YearlyRule, "changes", counted)
    for year in range(2026, 2326):
        fresh.offset_at(second_of(at(f"{year}-07-01 00:00Z")))

    assert len(years) < 10 * 300


# Names


def test_all_zones_can_be_loaded() -> None:
    for name in zone_names():
        starts = zone(name).timeline().starts
        assert all(earlier < later for earlier, later in pairwise(starts))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Europe/Rom", "Europe/Rome"),
        ("europe/rome", "Europe/Rome"),
        ("America/NewYork", "America/New_York"),
        ("Asia/Calcuta", "Asia/Calcutta"),
        ("Europe/Kyev", "Europe/Kyiv"),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_names(name: str, meant: str) -> None:
    for build in (lambda: Cron("@daily", timezone=name), lambda: Every("1d", timezone=name)):
        with pytest.raises(ZoneError) as refused:
            build()

        assert refused.value.field == "timezone"
        assert refused.value.value == name
        assert meant in refused.value.hint


def test_the_version_of_tzdata_is_told() -> None:
    assert tzdata_version() == tzdata.__version__
