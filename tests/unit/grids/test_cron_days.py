"""Which days a cron text means: day, month and weekday, alone and together."""

import pytest

from sempre import Cron
from sempre.errors import CronError, NeverFires
from tests.unit.grids.clocks import at


def dates(text: str, after: str, count: int) -> list[str]:
    """Return the next dates of a rule that fires at midnight, as 02-29 Thu."""
    return [f"{slot:%m-%d %a}" for slot in Cron(text).times(at(after), count)]


def weekdays(field: str) -> str:
    """Return the weekdays of one week that a field matches, Sunday first."""
    slots = Cron(f"0 0 * * {field}").between(at("2024-01-06 12:00Z"), at("2024-01-13 12:00Z"))
    return " ".join(f"{slot:%a}" for slot in slots)


def test_day_or_weekday_suffices_when_both_are_restricted() -> None:
    assert dates("0 0 13 * fri", "2024-09-01 00:00Z", 4) == [
        "09-06 Fri",
        "09-13 Fri",
        "09-20 Fri",
        "09-27 Fri",
    ]
    assert dates("0 0 13 * fri", "2024-10-11 00:00Z", 2) == ["10-13 Sun", "10-18 Fri"]


@pytest.mark.parametrize("text", ["0 0 */2 * mon", "0 0 1-31/2 * */1", "0 0 * * mon"])
def test_a_field_that_begins_with_a_star_does_not_restrict(text: str) -> None:
    slots = Cron(text).between(at("2024-07-01 00:00Z"), at("2024-07-31 00:00Z"))

    expected = {
        "0 0 */2 * mon": [15, 29],
        "0 0 1-31/2 * */1": list(range(3, 32, 2)),
        "0 0 * * mon": [8, 15, 22, 29],
    }
    assert [slot.day for slot in slots] == expected[text]


def test_a_full_range_of_days_does_restrict_so_that_either_suffices() -> None:
    slots = Cron("0 0 1-31 * mon").between(at("2024-07-01 00:00Z"), at("2024-07-31 00:00Z"))

    assert len(slots) == 30


def test_a_question_mark_is_a_star() -> None:
    assert Cron("0 0 ? * mon") == Cron("0 0 * * mon")
    assert Cron("0 0 13 * ?") == Cron("0 0 13 * *")


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("0", "Sun"),
        ("7", "Sun"),
        ("sun", "Sun"),
        ("0,7", "Sun"),
        ("7-mon", "Sun Mon"),
        ("0-1", "Sun Mon"),
        ("sat-sun", "Sun Sat"),
        ("6-7", "Sun Sat"),
        ("fri-sun", "Sun Fri Sat"),
        ("5-7", "Sun Fri Sat"),
        ("fri-mon", "Sun Mon Fri Sat"),
        ("5-1", "Sun Mon Fri Sat"),
        ("sun-sat", "Sun Mon Tue Wed Thu Fri Sat"),
        ("0-7", "Sun Mon Tue Wed Thu Fri Sat"),
        ("1-7", "Sun Mon Tue Wed Thu Fri Sat"),
        ("7-6", "Sun Mon Tue Wed Thu Fri Sat"),
        ("sun-sun", "Sun"),
        ("0-0", "Sun"),
        ("7-7", "Sun"),
        ("wed-wed", "Wed"),
        ("3/2", "Wed Fri"),
        ("tue/2", "Tue Thu Sat"),
        ("*/2", "Sun Tue Thu Sat"),
        ("0-6/3", "Sun Wed Sat"),
        ("0-7/7", "Sun"),
        ("5-7/2", "Sun Fri"),
    ],
)
def test_a_weekday_field_means_these_days(field: str, expected: str) -> None:
    assert weekdays(field) == expected


@pytest.mark.parametrize(
    "text",
    [
        "0 22-2/2 * * *",
        "50-10/5 * * * *",
        "0 0 * * fri-mon/2",
        "0 0 * nov-feb/2 *",
        "0 0 25-5/3 * *",
    ],
)
def test_a_step_on_a_range_that_wraps_around_is_refused(text: str) -> None:
    with pytest.raises(CronError, match="wrap"):
        Cron(text)


def test_ranges_wrap_around() -> None:
    nights = Cron("0 22-2 * * *").between(at("2024-01-01 12:00Z"), at("2024-01-02 12:00Z"))
    winter = Cron("0 0 1 nov-feb *").between(at("2024-01-01 12:00Z"), at("2025-01-01 12:00Z"))

    assert [slot.hour for slot in nights] == [22, 23, 0, 1, 2]
    assert [slot.month for slot in winter] == [2, 11, 12, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0 L * *", ["01-31 Wed", "02-29 Thu", "03-31 Sun"]),
        ("0 0 L-3 * *", ["01-28 Sun", "02-26 Mon", "03-28 Thu"]),
        ("0 0 -1 * *", ["01-31 Wed", "02-29 Thu", "03-31 Sun"]),
        ("0 0 -2 * *", ["01-30 Tue", "02-28 Wed", "03-30 Sat"]),
        ("0 0 LW * *", ["01-31 Wed", "02-29 Thu", "03-29 Fri"]),
        ("0 0 15W * *", ["01-15 Mon", "02-15 Thu", "03-15 Fri"]),
        ("0 0 13W * *", ["01-12 Fri", "02-13 Tue", "03-13 Wed"]),
        ("0 0 14W * *", ["01-15 Mon", "02-14 Wed", "03-14 Thu"]),
        ("0 0 1W 6,9 *", ["06-03 Mon", "09-02 Mon", "06-02 Mon"]),
        ("0 0 31W 3 *", ["03-29 Fri", "03-31 Mon", "03-31 Tue"]),
        ("0 0 L,1 * *", ["01-31 Wed", "02-01 Thu", "02-29 Thu"]),
        ("0 0 * * 5L", ["01-26 Fri", "02-23 Fri", "03-29 Fri"]),
        ("0 0 * * friL", ["01-26 Fri", "02-23 Fri", "03-29 Fri"]),
        ("0 0 * * 5#L", ["01-26 Fri", "02-23 Fri", "03-29 Fri"]),
        ("0 0 * * fri#-1", ["01-26 Fri", "02-23 Fri", "03-29 Fri"]),
        ("0 0 * * fri#-2", ["01-19 Fri", "02-16 Fri", "03-22 Fri"]),
        ("0 0 * * 7L", ["01-28 Sun", "02-25 Sun", "03-31 Sun"]),
        ("0 0 * * mon#1", ["02-05 Mon", "03-04 Mon", "04-01 Mon"]),
        ("0 0 * * thu#5", ["02-29 Thu", "05-30 Thu", "08-29 Thu"]),
        ("0 0 * * mon#1,tue#1", ["01-02 Tue", "02-05 Mon", "02-06 Tue"]),
        ("0 0 29 2 *", ["02-29 Thu", "02-29 Tue", "02-29 Sun"]),
        ("0 0 29-L * *", ["01-29 Mon", "01-30 Tue", "01-31 Wed"]),
        ("0 0 29-L 2-4 *", ["02-29 Thu", "03-29 Fri", "03-30 Sat"]),
        ("0 0 29-last 4 *", ["04-29 Mon", "04-30 Tue", "04-29 Tue"]),
        ("0 0 1-L/8 2 *", ["02-01 Thu", "02-09 Fri", "02-17 Sat"]),
        ("0 0 22-L/9,5 * *", ["01-05 Fri", "01-22 Mon", "01-31 Wed"]),
        ("0 0 -3-L 2 *", ["02-27 Tue", "02-28 Wed", "02-29 Thu"]),
        ("0 0 L-2-L 4 *", ["04-28 Sun", "04-29 Mon", "04-30 Tue"]),
        ("0 0 -10--1/3 4 *", ["04-21 Sun", "04-24 Wed", "04-27 Sat"]),
        ("0 0 L-L * *", ["01-31 Wed", "02-29 Thu", "03-31 Sun"]),
        ("0 0 last * *", ["01-31 Wed", "02-29 Thu", "03-31 Sun"]),
        ("0 0 * * tue#last", ["01-30 Tue", "02-27 Tue", "03-26 Tue"]),
        ("0 0 * * 2#LAST,fri#1", ["01-05 Fri", "01-30 Tue", "02-02 Fri"]),
    ],
)
def test_a_special_day_is_found(text: str, expected: list[str]) -> None:
    assert dates(text, "2024-01-01 00:00Z", 3) == expected


@pytest.mark.parametrize(
    ("day", "allowed"),
    [
        ("5--3", "N-L"),
        ("-3-5", "1-31"),
        ("-1--3", "wrap"),
        ("L--3/2", "wrap"),
        ("L/8", "1-31"),
        ("1-LL", "1-31"),
        ("1-L-2", "1-31"),
        ("1-LW", "1-31"),
        ("0-L", "1-31"),
        ("32-L", "1-31"),
        ("-32-L", "-1 to -31"),
        ("L-31-L", "L-1 to L-30"),
        ("1-L/0", "step"),
    ],
)
def test_a_range_that_ends_in_no_day_from_the_end_is_refused(day: str, allowed: str) -> None:
    with pytest.raises(CronError) as refused:
        Cron(f"0 0 {day} * *")

    assert refused.value.field == "day"
    assert allowed in refused.value.allowed


@pytest.mark.parametrize("weekday", ["tuelast", "tue#lasts", "tue#la", "last", "#last"])
def test_a_misspelt_last_weekday_is_refused(weekday: str) -> None:
    with pytest.raises(CronError):
        Cron(f"0 0 * * {weekday}")


@pytest.mark.parametrize(
    "text",
    [
        "0 0 30 2 *",
        "0 0 31 4,6 *",
        "0 0 31W 2 *",
        "0 0 L-30 2 *",
        "0 0 */31 * mon#5",
        "0 0 30 2 ?",
        "0 0 30-L 2 *",
        "0 0 -31--30 2 *",
    ],
)
def test_a_date_that_no_year_has_never_fires(text: str) -> None:
    with pytest.raises(NeverFires):
        Cron(text)


def test_a_day_that_no_year_has_does_not_stop_the_weekday() -> None:
    assert dates("0 0 31 2 sun", "2024-02-20 00:00Z", 1) == ["02-25 Sun"]


def test_the_longest_wait_is_forty_years() -> None:
    # 29 February is a Monday in 2072 and not again before 2112: 2100 is no leap year.
    fifth_mondays = Cron("0 0 * 2 mon#5")

    assert fifth_mondays.times(at("2044-03-01 00:00Z"), 2) == [
        at("2072-02-29 00:00Z"),
        at("2112-02-29 00:00Z"),
    ]
