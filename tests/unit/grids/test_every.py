"""`Every`: anchor + N * interval, by elapsed time or by the calendar of a zone."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sempre import Every
from tests.unit.grids.clocks import at, fires, shown

NEW_YORK = "America/New_York"
ROME = "Europe/Rome"


# Elapsed time


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("7s", "2026-01-01 00:00:07Z"),
        ("90s", "2026-01-01 00:01:30Z"),
        ("45m", "2026-01-01 00:45Z"),
        ("5h", "2026-01-01 05:00Z"),
        ("36h", "2026-01-02 12:00Z"),
    ],
)
def test_seconds_to_hours_are_counted_from_the_anchor(interval: str, expected: str) -> None:
    grid = Every(interval, anchor="2026-01-01 00:00Z")

    assert grid.after(at("2026-01-01 00:00Z")) == at(expected)


def test_hours_are_elapsed_time_across_a_gap_and_a_fold() -> None:
    grid = Every("6h", anchor="2024-01-01 00:00", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-03-10 04:59Z", 2) == [
        "2024-03-10 00:00-05:00",
        "2024-03-10 07:00-04:00",
    ]
    assert fires(grid, NEW_YORK, "2024-11-03 04:59Z", 2) == [
        "2024-11-03 01:00-04:00",
        "2024-11-03 06:00-05:00",
    ]


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize("gap", ["shift", "skip"])
def test_policies_for_gaps_and_folds_do_not_touch_elapsed_time(gap: str, fold: str) -> None:
    grid = Every("30m", anchor="2024-01-01 00:00Z", timezone=NEW_YORK, gap=gap, fold=fold)

    slots = grid.between(at("2024-11-03 04:00Z"), at("2024-11-03 08:00Z"))

    assert slots == [at("2024-11-03 04:00Z") + timedelta(minutes=30 * n) for n in range(1, 9)]


def test_a_timedelta_of_a_day_is_24_hours_and_not_a_calendar_day() -> None:
    elapsed = Every(timedelta(days=1), anchor="2024-03-09 02:00", timezone=NEW_YORK)
    calendar = Every("1 day", anchor="2024-03-09 03:00", timezone=NEW_YORK)

    assert fires(elapsed, NEW_YORK, "2024-03-10 12:00Z", 1) == ["2024-03-11 03:00-04:00"]
    assert fires(calendar, NEW_YORK, "2024-03-10 12:00Z", 1) == ["2024-03-11 03:00-04:00"]
    assert elapsed == Every("24h", anchor="2024-03-09 02:00", timezone=NEW_YORK)
    assert elapsed != Every("1 day", anchor="2024-03-09 02:00", timezone=NEW_YORK)


def test_an_anchor_keeps_its_microseconds() -> None:
    anchor = datetime(2026, 1, 1, 0, 0, 0, 250_001, tzinfo=UTC)

    assert Every("1s", anchor=anchor).after(anchor) == anchor + timedelta(seconds=1)
    assert Every("1 day", anchor=anchor).after(anchor) == anchor + timedelta(days=1)
    assert Every("1 month", anchor=anchor).after(anchor) == anchor + timedelta(days=31)


# The anchor


@pytest.mark.parametrize("interval", ["1s", "5m", "7h", "3 days", "2 weeks", "1 month", "4 years"])
def test_nothing_fires_before_the_anchor_and_the_anchor_is_the_first(interval: str) -> None:
    grid = Every(interval, anchor="2030-05-31 09:00", timezone=ROME)

    assert fires(grid, ROME, "1900-01-01 00:00Z", 1) == ["2030-05-31 09:00+02:00"]
    assert fires(grid, ROME, "2030-05-31 06:59:59.999999Z", 1) == ["2030-05-31 09:00+02:00"]
    assert grid.between(at("1900-01-01 00:00Z"), at("2030-05-31 06:59:59Z")) == []


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("1 week", "2026-01-05 00:00-05:00"),
        ("2 weeks", "2026-01-12 00:00-05:00"),
        ("1 month", "2026-02-01 00:00-05:00"),
        ("3 months", "2026-04-01 00:00-04:00"),
        ("1 year", "2027-01-01 00:00-05:00"),
        ("1 day", "2026-01-02 00:00-05:00"),
        ("6h", "2026-01-01 18:00-05:00"),
    ],
)
def test_without_an_anchor_it_counts_from_monday_2001_01_01(interval: str, expected: str) -> None:
    grid = Every(interval, timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2026-01-01 12:00-05:00", 1) == [expected]
    assert fires(grid, NEW_YORK, "1950-01-01 00:00Z", 1) == ["2001-01-01 00:00-05:00"]
    assert grid == Every(interval, anchor="2001-01-01", timezone=NEW_YORK)


@pytest.mark.parametrize(
    "anchor",
    [
        "2026-01-31 09:00",
        "2026-01-31T09:00:00",
        "2026-01-31T08:00Z",
        "2026-01-31 03:00-05:00",
        " 2026-01-31 09:00 ",
        datetime.fromisoformat("2026-01-31 09:00"),
        datetime(2026, 1, 31, 8, tzinfo=UTC),
        datetime(2026, 1, 31, 17, tzinfo=ZoneInfo("Asia/Tokyo")),
    ],
)
def test_an_anchor_without_an_offset_is_wall_time_of_the_zone(anchor: object) -> None:
    grid = Every("1 month", anchor=anchor, timezone=ROME)  # type: ignore[arg-type]

    assert fires(grid, ROME, "2026-03-01 00:00Z", 1) == ["2026-03-31 09:00+02:00"]
    assert grid == Every("1 month", anchor="2026-01-31 09:00", timezone=ROME)


def test_a_date_is_an_anchor_at_midnight() -> None:
    grid = Every("1 day", anchor=date(2026, 1, 31), timezone=ROME)

    assert grid == Every("1 day", anchor="2026-01-31 00:00", timezone=ROME)
    assert grid == Every("1 day", anchor="2026-01-31", timezone=ROME)


@pytest.mark.parametrize("fold", ["first", "last"])
@pytest.mark.parametrize("anchor", ["2024-11-03 01:30-04:00", "2024-11-03 01:30-05:00"])
def test_an_anchor_with_an_offset_keeps_its_showing_in_the_fold(anchor: str, fold: str) -> None:
    grid = Every("1 day", anchor=anchor, timezone=NEW_YORK, fold=fold)

    assert fires(grid, NEW_YORK, "2024-01-01 00:00Z", 2) == [anchor, "2024-11-04 01:30-05:00"]


def test_both_showings_of_an_anchor_count_but_none_before_it() -> None:
    early = Every("1 day", anchor="2024-11-03 01:30-04:00", timezone=NEW_YORK, fold="both")
    late = Every("1 day", anchor="2024-11-03 01:30-05:00", timezone=NEW_YORK, fold="both")

    assert fires(early, NEW_YORK, "2024-01-01 00:00Z", 3) == [
        "2024-11-03 01:30-04:00",
        "2024-11-03 01:30-05:00",
        "2024-11-04 01:30-05:00",
    ]
    assert fires(late, NEW_YORK, "2024-01-01 00:00Z", 2) == [
        "2024-11-03 01:30-05:00",
        "2024-11-04 01:30-05:00",
    ]


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("first", ["2024-11-03 01:30-04:00", "2024-11-04 01:30-05:00"]),
        ("last", ["2024-11-03 01:30-05:00", "2024-11-04 01:30-05:00"]),
        ("both", ["2024-11-03 01:30-04:00", "2024-11-03 01:30-05:00"]),
    ],
)
def test_a_naive_anchor_in_the_fold_follows_the_policy(fold: str, expected: list[str]) -> None:
    grid = Every("1 day", anchor="2024-11-03 01:30", timezone=NEW_YORK, fold=fold)

    assert fires(grid, NEW_YORK, "2024-01-01 00:00Z", 2) == expected


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("shift", ["2024-03-10 03:30-04:00", "2024-03-11 02:30-04:00"]),
        ("skip", ["2024-03-11 02:30-04:00", "2024-03-12 02:30-04:00"]),
    ],
)
def test_a_naive_anchor_in_the_gap_follows_the_policy(gap: str, expected: list[str]) -> None:
    grid = Every("1 day", anchor="2024-03-10 02:30", timezone=NEW_YORK, gap=gap)

    assert fires(grid, NEW_YORK, "2024-01-01 00:00Z", 2) == expected


def test_hours_from_a_naive_anchor_in_the_gap_begin_after_it() -> None:
    grid = Every("1h", anchor="2024-03-10 02:30", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-01-01 00:00Z", 2) == [
        "2024-03-10 03:30-04:00",
        "2024-03-10 04:30-04:00",
    ]


FAR_ANCHOR = """
from datetime import datetime
from sempre import Every
grid = Every("7h", anchor="2200-07-01 00:00", timezone="America/New_York")
print(grid.after(datetime.fromisoformat("2026-01-01T00:00Z")))
"""


def test_an_anchor_of_the_far_future_is_placed_by_its_own_summer_time() -> None:
    # In a process of its own: a question about later years would have read the zone further.
    answer = subprocess.run(
        [sys.executable, "-c", FAR_ANCHOR], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() == "2200-07-01 04:00:00+00:00"


# The calendar


def test_days_keep_the_wall_clock() -> None:
    grid = Every("1 day", anchor="2024-01-01 09:00", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-03-09 12:00Z", 3) == [
        "2024-03-09 09:00-05:00",
        "2024-03-10 09:00-04:00",
        "2024-03-11 09:00-04:00",
    ]


@pytest.mark.parametrize("interval", ["1 day", "1 week", "1 month", "1 year"])
def test_a_skipped_wall_time_moves_by_the_length_of_the_gap_once(interval: str) -> None:
    before = {"1 day": "03-09", "1 week": "03-03", "1 month": "02-10", "1 year": "03-10"}
    year = 2023 if interval == "1 year" else 2024
    grid = Every(interval, anchor=f"{year}-{before[interval]} 02:45", timezone=NEW_YORK)

    slots = grid.between(at("2024-03-10 00:00Z"), at("2024-03-11 00:00Z"))
    later = grid.after(at("2024-03-11 00:00Z"))

    assert shown(NEW_YORK, slots) == ["2024-03-10 03:45-04:00"]
    assert later is not None
    assert later.astimezone(ZoneInfo(NEW_YORK)).strftime("%H:%M") == "02:45"


def test_a_skipped_wall_time_is_left_out_if_gaps_are_skipped() -> None:
    grid = Every("1 day", anchor="2024-03-08 02:45", timezone=NEW_YORK, gap="skip")

    assert fires(grid, NEW_YORK, "2024-03-09 00:00Z", 2) == [
        "2024-03-09 02:45-05:00",
        "2024-03-11 02:45-04:00",
    ]


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("first", ["2024-11-03 01:30-04:00"]),
        ("last", ["2024-11-03 01:30-05:00"]),
        ("both", ["2024-11-03 01:30-04:00", "2024-11-03 01:30-05:00"]),
    ],
)
def test_a_repeated_wall_time_runs_as_told(fold: str, expected: list[str]) -> None:
    grid = Every("1 day", anchor="2024-11-01 01:30", timezone=NEW_YORK, fold=fold)

    slots = grid.between(at("2024-11-03 00:00-04:00"), at("2024-11-03 12:00-05:00"))

    assert shown(NEW_YORK, slots) == expected
    from_inside = grid.between(at("2024-11-03 05:45Z"), at("2024-11-03 12:00-05:00"))
    assert shown(NEW_YORK, from_inside) == [text for text in expected if text.endswith("-05:00")]


@pytest.mark.parametrize(
    ("interval", "anchor", "after", "expected"),
    [
        ("1 month", "2023-12-31", "2024-01-31", ["02-29", "03-31", "04-30", "05-31"]),
        ("1 month", "2024-01-30", "2025-01-30", ["02-28", "03-30", "04-30", "05-30"]),
        ("2 months", "2023-12-31", "2024-01-01", ["02-29", "04-30", "06-30", "08-31"]),
        ("1 year", "2024-02-29", "2024-03-01", ["02-28", "02-28", "02-28", "02-29"]),
        ("4 years", "2096-02-29", "2096-03-01", ["02-28", "02-29", "02-29", "02-29"]),
        ("12 months", "2024-02-29", "2024-03-01", ["02-28", "02-28", "02-28", "02-29"]),
        ("13 months", "2024-01-31", "2024-02-01", ["02-28", "03-31", "04-30", "05-31"]),
    ],
)
def test_a_month_without_that_day_takes_its_last_day(
    interval: str, anchor: str, after: str, expected: list[str]
) -> None:
    slots = Every(interval, anchor=f"{anchor} 12:00").times(at(f"{after} 12:00Z"), 4)

    assert [f"{slot:%m-%d}" for slot in slots] == expected


def test_an_anchor_of_long_ago_costs_no_more_and_gives_the_same() -> None:
    old = Every(1, "seconds", anchor="1800-01-01 00:00Z")

    assert old.after(at("2026-01-01 00:00Z")) == at("2026-01-01 00:00:01Z")
    passed = old.passed(at("1900-01-01 00:00Z"), at("2026-01-01 00:00Z"))
    assert passed is not None
    assert passed.count == (at("2026-01-01 00:00Z") - at("1900-01-01 00:00Z")).total_seconds()
