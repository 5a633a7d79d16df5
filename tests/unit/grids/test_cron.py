"""`Cron`: which wall-clock times match, and what becomes of them when the clocks change."""

from datetime import timedelta

import pytest

from sempre import Cron
from tests.unit.grids.clocks import at, fires, shown

NEW_YORK = "America/New_York"


# Slots


def test_a_slot_is_strictly_later_than_asked() -> None:
    daily = Cron("0 9 * * *")

    assert daily.after(at("2026-01-01 08:59:59.999999Z")) == at("2026-01-01 09:00Z")
    assert daily.after(at("2026-01-01 09:00Z")) == at("2026-01-02 09:00Z")
    assert daily.after(at("2026-01-01 09:00:00.000001Z")) == at("2026-01-02 09:00Z")


def test_answers_are_in_utc_whatever_the_zones() -> None:
    slot = Cron("0 9 * * *", timezone="Asia/Tokyo").after(at("2026-01-01 00:00-05:00"))

    assert slot is not None
    assert slot.utcoffset() == timedelta(0)
    assert slot.isoformat() == "2026-01-02T00:00:00+00:00"


def test_the_zone_is_utc_unless_said_otherwise() -> None:
    assert Cron("0 9 * * *").timezone == "UTC"


def test_a_list_of_no_slots_is_empty() -> None:
    assert Cron("0 9 * * *").times(at("2026-01-01 00:00Z"), 0) == []
    assert Cron("0 9 * * *").between(at("2026-01-02 00:00Z"), at("2026-01-01 00:00Z")) == []
    assert Cron("0 9 * * *").passed(at("2026-01-02 00:00Z"), at("2026-01-01 00:00Z")) is None


def test_a_month_of_missed_seconds_is_counted_and_not_walked_through() -> None:
    passed = Cron("* * * * * *").passed(at("2024-02-01 00:00Z"), at("2024-03-01 00:00Z"))

    assert passed is not None
    assert passed.count == 29 * 86_400
    assert passed.last == at("2024-03-01 00:00Z")


# Gaps and folds


@pytest.mark.parametrize("text", ["30 2 * * *", "30 30 2 * * *", "0,30 2 * * *", "15 2,3 * * *"])
def test_a_fixed_time_in_the_gap_runs_once_right_after_it(text: str) -> None:
    grid = Cron(text, timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-03-10 06:59:59Z", 1) == ["2024-03-10 03:00-04:00"]
    in_the_hour = grid.between(at("2024-03-10 06:59:59Z"), at("2024-03-10 07:00Z"))
    assert shown(NEW_YORK, in_the_hour) == ["2024-03-10 03:00-04:00"]


def test_a_fixed_time_in_the_gap_and_one_at_its_end_are_one_run() -> None:
    grid = Cron("30 2,3 * * *", timezone=NEW_YORK)
    merged = Cron("0,30 2,3 * * *", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-03-10 05:00Z", 2) == [
        "2024-03-10 03:00-04:00",
        "2024-03-10 03:30-04:00",
    ]
    assert fires(merged, NEW_YORK, "2024-03-10 05:00Z", 2) == [
        "2024-03-10 03:00-04:00",
        "2024-03-10 03:30-04:00",
    ]


@pytest.mark.parametrize("text", ["30 2 * * *", "0,30 2 * * *"])
def test_a_fixed_time_in_the_gap_is_left_out_if_gaps_are_skipped(text: str) -> None:
    grid = Cron(text, timezone=NEW_YORK, gap="skip")

    assert grid.between(at("2024-03-10 05:00Z"), at("2024-03-11 05:59Z")) == []


def test_a_skipped_midnight_runs_at_one() -> None:
    grid = Cron("@daily", timezone="America/Sao_Paulo")

    assert fires(grid, "America/Sao_Paulo", "2018-11-03 12:00Z", 2) == [
        "2018-11-04 01:00-02:00",
        "2018-11-05 00:00-02:00",
    ]


@pytest.mark.parametrize("gap", ["shift", "skip"])
def test_a_wildcard_passes_over_the_gap(gap: str) -> None:
    grid = Cron("30 */2 * * *", timezone=NEW_YORK, gap=gap)

    assert fires(grid, NEW_YORK, "2024-03-10 05:00Z", 2) == [
        "2024-03-10 00:30-05:00",
        "2024-03-10 04:30-04:00",
    ]


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("first", ["2024-11-03 01:30-04:00", "2024-11-04 01:30-05:00"]),
        ("last", ["2024-11-03 01:30-05:00", "2024-11-04 01:30-05:00"]),
        ("both", ["2024-11-03 01:30-04:00", "2024-11-03 01:30-05:00"]),
    ],
)
def test_a_fixed_time_in_the_fold_runs_as_told(fold: str, expected: list[str]) -> None:
    grid = Cron("30 1 * * *", timezone=NEW_YORK, fold=fold)

    assert fires(grid, NEW_YORK, "2024-11-03 04:00Z", 2) == expected


@pytest.mark.parametrize(
    ("fold", "asked", "expected"),
    [
        ("first", "2024-11-03 05:30Z", "2024-11-04 01:30-05:00"),
        ("first", "2024-11-03 06:15Z", "2024-11-04 01:30-05:00"),
        ("last", "2024-11-03 05:15Z", "2024-11-03 01:30-05:00"),
        ("last", "2024-11-03 05:30Z", "2024-11-03 01:30-05:00"),
        ("last", "2024-11-03 05:59:59Z", "2024-11-03 01:30-05:00"),
        ("last", "2024-11-03 06:15Z", "2024-11-03 01:30-05:00"),
        ("both", "2024-11-03 05:45Z", "2024-11-03 01:30-05:00"),
    ],
)
def test_a_fixed_time_in_the_fold_is_found_from_inside_the_fold(
    fold: str, asked: str, expected: str
) -> None:
    grid = Cron("30 1 * * *", timezone=NEW_YORK, fold=fold)

    assert fires(grid, NEW_YORK, asked, 1) == [expected]


@pytest.mark.parametrize("fold", ["first", "last", "both"])
def test_a_wildcard_runs_at_both_showings_whatever_the_fold(fold: str) -> None:
    grid = Cron("0 * * * *", timezone=NEW_YORK, fold=fold)

    assert fires(grid, NEW_YORK, "2024-11-03 04:30Z", 3) == [
        "2024-11-03 01:00-04:00",
        "2024-11-03 01:00-05:00",
        "2024-11-03 02:00-05:00",
    ]


def test_a_range_of_hours_is_no_wildcard() -> None:
    grid = Cron("0 1-3 * * *", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2024-11-03 04:30Z", 3) == [
        "2024-11-03 01:00-04:00",
        "2024-11-03 02:00-05:00",
        "2024-11-03 03:00-05:00",
    ]


def test_only_a_leading_star_makes_a_wildcard() -> None:
    listed = Cron("0 0,*/1 * * *", timezone=NEW_YORK)
    leading = Cron("0 */1,0 * * *", timezone=NEW_YORK)
    fold = at("2024-11-03 04:30Z"), at("2024-11-03 06:30Z")

    assert len(listed.between(*fold)) == 1
    assert len(leading.between(*fold)) == 2


# A rule whose every match lies in a gap


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("30 2 * 3 SUN#2", "skip"),
        ("30 2 8-14 3 */7", "skip"),
        ("* 2 * 3 SUN#2", "shift"),
        ("30 2 * 3 SUN#2 America/New_York", "skip"),
    ],
)
def test_a_time_that_the_clock_skips_every_year_never_comes(text: str, gap: str) -> None:
    # New York skips 02:00-03:00 on the second Sunday of March, every year from 2007 on.
    grid = Cron(text, timezone=NEW_YORK, gap=gap)

    assert grid.after(at("2024-01-01 00:00Z")) is None


def test_such_a_time_is_made_up_for_every_year_unless_skipped() -> None:
    grid = Cron("30 2 * 3 SUN#2", timezone=NEW_YORK)

    assert fires(grid, NEW_YORK, "2150-01-01 00:00Z", 2) == [
        "2150-03-08 03:00-04:00",
        "2151-03-14 03:00-04:00",
    ]
