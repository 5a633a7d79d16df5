"""Ranges of days that end with the month, and last weekdays, against every day of some years."""

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sempre import Cron
from sempre.errors import NeverFires

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Two leap years, one of them a century that has 29 February, and every weekday as the first.
YEARS = ((1999, 2001), (2023, 2029))

days = st.integers(1, 31)
steps = st.one_of(st.none(), st.integers(1, 35))
last = st.sampled_from(["L", "l", "last", "Last"])


def enumerate_days(first_year: int, last_year: int) -> list[date]:
    start, end = date(first_year, 1, 1), date(last_year + 1, 1, 1)
    return [start + timedelta(days=number) for number in range((end - start).days)]


def fired_days(text: str, first_year: int, last_year: int) -> list[date]:
    start = datetime(first_year, 1, 1, tzinfo=UTC) - timedelta(seconds=1)
    try:
        slots = Cron(text).between(start, datetime(last_year, 12, 31, tzinfo=UTC))
    except NeverFires:
        return []
    assert {slot.time() for slot in slots} <= {time()}
    return [slot.date() for slot in slots]


def from_end(day: date) -> int:
    """Return 1 for the last day of a month, 2 for the day before, and so on."""
    return monthrange(day.year, day.month)[1] + 1 - day.day


@settings(max_examples=60)
@given(days, steps, last, st.sampled_from(YEARS))
@example(29, None, "L", YEARS[1])
@example(1, 8, "L", YEARS[1])
def test_a_range_from_a_day_to_the_last_is_every_step_from_that_day(
    first: int, step: int | None, word: str, years: tuple[int, int]
) -> None:
    text = f"0 0 {first}-{word}{f'/{step}' if step else ''} * *"

    expected = [
        day
        for day in enumerate_days(*years)
        if day.day >= first and (day.day - first) % (step or 1) == 0
    ]
    assert fired_days(text, *years) == expected


@settings(max_examples=60)
@given(days, days, steps, st.sampled_from(["L", "-"]), st.sampled_from(YEARS))
def test_a_range_between_days_from_the_end_counts_from_the_end(
    one: int, other: int, step: int | None, spelling: str, years: tuple[int, int]
) -> None:
    begin, end = max(one, other), min(one, other)
    end_word = "L" if end == 1 and spelling == "L" else f"-{end}"
    begin_word = f"L-{begin - 1}" if spelling == "L" and begin > 1 else f"-{begin}"
    text = f"0 0 {begin_word}-{end_word}{f'/{step}' if step else ''} * *"

    expected = [
        day
        for day in enumerate_days(*years)
        if end <= from_end(day) <= begin and (begin - from_end(day)) % (step or 1) == 0
    ]
    assert fired_days(text, *years) == expected


@settings(max_examples=40)
@given(st.sampled_from(WEEKDAYS), last, days, last, st.sampled_from(YEARS))
def test_a_last_weekday_joins_a_range_to_the_last_day(
    weekday: str, word: str, first: int, end: str, years: tuple[int, int]
) -> None:
    text = f"0 0 {first}-{end} * {weekday}#{word}"

    expected = [
        day
        for day in enumerate_days(*years)
        if day.day >= first or (WEEKDAYS[day.weekday()] == weekday and from_end(day) <= 7)
    ]
    assert fired_days(text, *years) == expected
