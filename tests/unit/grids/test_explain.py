"""What a person would say: the words for each kind of rule, and that they are true."""

import re
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sempre.errors import NeverFires
from sempre.grids import Cron, Every, Grid

START = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=1)

DAILY = {
    "0 0 * * *": "00:00 every day, UTC",
    "@noon": "12:00 every day, UTC",
    "0 2,14 * * *": "02:00 and 14:00 every day, UTC",
    "0 6,12,18 * * *": "06:00, 12:00 and 18:00 every day, UTC",
    "0 */8 * * *": "00:00, 08:00 and 16:00 every day, UTC",
    "0,30 9,12,18 * * *": "09:00, 09:30, 12:00, 12:30, 18:00 and 18:30 every day, UTC",
    "15 30 9 * * *": "09:30:15 every day, UTC",
    "0,30 30 9 * * *": "09:30 and 09:30:30 every day, UTC",
    "0 0 1-31 * 1": "00:00 every day, UTC",
    "0 0 1 * 0-6": "00:00 every day, UTC",
}
REPEATED = {
    "* * * * *": "every minute",
    "*/5 * * * *": "every 5 minutes",
    "0-55/5 * * * *": "every 5 minutes",
    "*/30 * * * *": "every 30 minutes",
    "0 * * * *": "every hour",
    "@hourly": "every hour",
    "0 */2 * * *": "every 2 hours",
    "0 */6 * * *": "every 6 hours",
    "* * * * * *": "every second",
    "*/10 * * * * *": "every 10 seconds",
    "0 */5 * * * *": "every 5 minutes",
    "30 * * * *": "at minute 30 of every hour",
    "5,20,35,50 * * * *": "at minutes 5, 20, 35 and 50 of every hour",
    "1,2,4,7,11,13 * * * *": "at minutes 1, 2, 4, 7, 11 and 13 of every hour",
    "*/7 * * * *": "every 7 minutes from minute 0 to 56 of every hour",
    "3/5 * * * *": "every 5 minutes from minute 3 to 58 of every hour",
    "10-20 * * * *": "every minute from minute 10 to 20 of every hour",
    "30 * * * * *": "at second 30 of every minute",
    "5,6 7 * * * *": "at seconds 5 and 6 of minute 7 of every hour",
    "30 */5 * * * *": "at second 30 of the minutes 0, 5, 10 ... 55 of every hour",
    "*/10 5 * * * *": "every 10 seconds of minute 5 of every hour",
    "*/5 * * * 1-5": "every 5 minutes Monday to Friday, UTC",
    "*/5 * * 6 *": "every 5 minutes in June, UTC",
    "* * 1 * *": "every minute on day 1 of every month, UTC",
}
WITHIN_THE_DAY = {
    "* 9-17 * * 1-5": "every minute from 09:00 to 17:59 Monday to Friday, UTC",
    "*/15 9-17 * * 1-5": "every 15 minutes from 09:00 to 17:45 Monday to Friday, UTC",
    "0 9-17 * * 1-5": "every hour from 09:00 to 17:00 Monday to Friday, UTC",
    "0 9-17/2 * * *": "every 2 hours from 09:00 to 17:00 every day, UTC",
    "30 */2 * * *": "every 2 hours from 00:30 to 22:30 every day, UTC",
    "0 */5 * * *": "every 5 hours from 00:00 to 20:00 every day, UTC",
    "*/10 2 * * *": "every 10 minutes from 02:00 to 02:50 every day, UTC",
    "*/7 9-17 * * *": "every 7 minutes from minute 0 to 56 of the hours 9 to 17 every day, UTC",
    "0,10,25 1,3,5 * * *": "at minutes 0, 10 and 25 of the hours 1, 3 and 5 every day, UTC",
    "* 9,11 * * *": "every minute of the hours 9 and 11 every day, UTC",
    "* 22-5 * * *": "every minute of the hours 0 to 5, 22 and 23 every day, UTC",
    "*/10 * 9,11 * * *": "every 10 seconds of the hours 9 and 11 every day, UTC",
    "5 * 9,11 * * *": "at second 5 of every minute of the hours 9 and 11 every day, UTC",
}
WEEKDAYS = {
    "0 9 * * 1-5": "09:00 Monday to Friday, UTC",
    "@weekly": "00:00 every Sunday, UTC",
    "0 0 * * 7": "00:00 every Sunday, UTC",
    "0 0 * * 6,0": "00:00 every Saturday and Sunday, UTC",
    "0 0 * * 1,3,5": "00:00 every Monday, Wednesday and Friday, UTC",
    "0 0 * * fri-mon": "00:00 Friday to Monday, UTC",
    "0 0 * * 5#2": "00:00 on the second Friday of every month, UTC",
    "0 0 * * 5L": "00:00 on the last Friday of every month, UTC",
    "0 0 * * tue#last": "00:00 on the last Tuesday of every month, UTC",
    "0 0 * * fri#-2": "00:00 on the second-to-last Friday of every month, UTC",
    "0 0 * * 5#5": "00:00 on the fifth Friday (if any) of every month, UTC",
    "0 0 * * 1#1,1#3": "00:00 on the first Monday and the third Monday of every month, UTC",
    "0 0 * * 1,5#2": "00:00 every Monday and on the second Friday of every month, UTC",
    "0 0 * 6 5": "00:00 every Friday in June, UTC",
    "0 0 * 6-8 5L": "00:00 on the last Friday of each month from June to August, UTC",
}
DAYS = {
    "0 0 1 * *": "00:00 on day 1 of every month, UTC",
    "0 0 1,15 * *": "00:00 on days 1 and 15 of every month, UTC",
    "0 0 1-7,20 * *": "00:00 on days 1 to 7 and 20 of every month, UTC",
    "0 0 */2 * *": "00:00 on days 1, 3, 5 ... 31 of every month, UTC",
    "0 0 L * *": "00:00 on the last day of every month, UTC",
    "0 0 -2 * *": "00:00 on the second-to-last day of every month, UTC",
    "0 0 L-12 * *": "00:00 on the 13th-to-last day of every month, UTC",
    "0 0 L-21 * *": "00:00 on the 22nd-to-last day of every month, UTC",
    "0 0 1,L * *": "00:00 on day 1 and the last day of every month, UTC",
    "0 0 15W * *": "00:00 on the weekday (Monday to Friday) nearest to day 15 of every month, UTC",
    "0 0 LW * *": "00:00 on the last weekday (Monday to Friday) of every month, UTC",
    "0 0 29-L * *": "00:00 on days 29 to 31 of every month, UTC",
    "0 0 1-L/8 * *": "00:00 on days 1, 9, 17 and 25 of every month, UTC",
    "0 0 -3-L * *": "00:00 on the last 3 days of every month, UTC",
    "0 0 1,-10-L * *": "00:00 on day 1 and the last 10 days of every month, UTC",
    "0 0 29 2 *": "00:00 on 29 February, UTC",
    "@yearly": "00:00 on 1 January, UTC",
    "0 0 1,15 1 *": "00:00 on 1 and 15 January, UTC",
    "0 0 L 2 *": "00:00 on the last day of February, UTC",
    "0 0 1 */3 *": "00:00 on day 1 of January, April, July and October, UTC",
    "0 0 1 6-8 *": "00:00 on day 1 of each month from June to August, UTC",
    "0 9 * 11-2 *": "09:00 every day from November to February, UTC",
    "0 9 * jan,mar *": "09:00 every day in January and March, UTC",
}
BOTH = {
    "0 0 1,15 * 5": "00:00 on days 1 and 15 of every month and also every Friday, UTC",
    "0 0 L * 1-5": "00:00 on the last day of every month and also Monday to Friday, UTC",
    "0 0 1 6 5": "00:00 on 1 June and also every Friday in June, UTC",
    "0 0 */2 * 1-5": "00:00 Monday to Friday, but only on days 1, 3, 5 ... 31 of every month, UTC",
    "0 0 */100,1-7 * 0": "00:00 every Sunday, but only on days 1 to 7 of every month, UTC",
    "0 0 13 * */5": "00:00 every Friday and Sunday, but only on day 13 of every month, UTC",
}
CRONS = DAILY | REPEATED | WITHIN_THE_DAY | WEEKDAYS | DAYS | BOTH


@pytest.mark.parametrize(("text", "words"), CRONS.items(), ids=CRONS)
def test_a_cron_text_is_told_as_a_person_would(text: str, words: str) -> None:
    assert Cron(text).explain() == words


ZONED = [
    ("0 2,14 * * *", "Europe/Rome", "02:00 and 14:00 every day, Europe/Rome"),
    ("*/5 * * * *", "Europe/Rome", "every 5 minutes"),
    ("0 * * * *", "Europe/Rome", "every hour"),
    ("*/30 * * * *", "Asia/Kolkata", "every 30 minutes"),
    ("0 * * * *", "Asia/Kolkata", "every hour, Asia/Kolkata"),
    ("30 * * * *", "Australia/Lord_Howe", "at minute 30 of every hour, Australia/Lord_Howe"),
    ("0 */2 * * *", "Europe/Rome", "every 2 hours, Europe/Rome"),
    ("*/5 * * * 1", "Asia/Tokyo", "every 5 minutes every Monday, Asia/Tokyo"),
]


@pytest.mark.parametrize(("text", "zone", "words"), ZONED)
def test_the_zone_is_told_where_it_makes_a_difference(text: str, zone: str, words: str) -> None:
    assert Cron(text, timezone=zone).explain() == words


ROME = {"timezone": "Europe/Rome"}
EVERIES = [
    (Every("15m"), "every 15 minutes"),
    (Every("1h"), "every hour"),
    (Every(30), "every 30 seconds"),
    (Every("1h30m"), "every 90 minutes"),
    (Every(timedelta(days=1), **ROME), "every 24 hours"),
    (Every("15m", anchor="2026-01-01 09:30"), "every 15 minutes"),
    (Every("15m", anchor="2026-01-01 09:07"), "at minutes 7, 22, 37 and 52 of every hour"),
    (Every("5m", anchor="2026-01-01 09:03"), "every 5 minutes from minute 3 to 58 of every hour"),
    (Every("1h", anchor="2026-01-01 09:20"), "at minute 20 of every hour"),
    (
        Every("1h", anchor="2026-01-01 09:20Z", timezone="Asia/Kolkata"),
        "at minute 50 of every hour, Asia/Kolkata",
    ),
    (
        Every("1h", anchor="2026-01-01 09:20", timezone="Australia/Lord_Howe"),
        "every hour from 2026-01-01 09:20, Australia/Lord_Howe",
    ),
    (
        Every("2h", anchor="2026-01-01 09:20", **ROME),
        "every 2 hours from 2026-01-01 09:20, Europe/Rome",
    ),
    (Every("7m", anchor="2026-01-01"), "every 7 minutes from 2026-01-01 00:00, UTC"),
    (Every("10s", anchor="2026-01-01 00:00:03"), "every 10 seconds from 2026-01-01 00:00:03, UTC"),
    (Every("1 day"), "00:00 every day, UTC"),
    (Every("1 day", anchor="2026-01-01 09:00:30.5"), "09:00:30.500000 every day, UTC"),
    (
        Every("3 days", anchor="2026-01-01 09:00", **ROME),
        "09:00 every 3 days from 2026-01-01, Europe/Rome",
    ),
    (Every("1 week"), "00:00 every Monday, UTC"),
    (Every("1 week", anchor="2026-01-06 09:00"), "09:00 every Tuesday, UTC"),
    (
        Every("2 weeks", anchor="2026-01-05 09:00", **ROME),
        "09:00 every 2 weeks on Monday from 2026-01-05, Europe/Rome",
    ),
    (
        Every("1 month", anchor="2026-01-31 09:00", **ROME),
        "09:00 on day 31 of every month (or its last day), Europe/Rome",
    ),
    (
        Every("1 month", anchor="2026-01-15 09:00", **ROME),
        "09:00 on day 15 of every month, Europe/Rome",
    ),
    (
        Every("3 months", anchor="2026-01-15"),
        "00:00 on day 15 of January, April, July and October, UTC",
    ),
    (Every("6 months", anchor="2026-01-31"), "00:00 on day 31 of January and July, UTC"),
    (
        Every("5 months", anchor="2026-01-31"),
        "00:00 on day 31 every 5 months from 2026-01-31 (or the last day there is), UTC",
    ),
    (Every("1 year"), "00:00 on 1 January every year, UTC"),
    (Every("12 months"), "00:00 on 1 January every year, UTC"),
    (
        Every("1 year", anchor="2024-02-29 09:00"),
        "09:00 on 29 February every year (or 28 February), UTC",
    ),
    (Every("4 years", anchor="2026-06-30"), "00:00 on 30 June every 4 years from 2026-06-30, UTC"),
]


@pytest.mark.parametrize(("grid", "words"), EVERIES, ids=[words for _, words in EVERIES])
def test_an_anchor_grid_is_told_as_a_person_would(grid: Every, words: str) -> None:
    assert grid.explain() == words


def test_what_would_take_several_lines_is_counted() -> None:
    weekdays = ",".join(f"{day}#{n}" for day in range(1, 7) for n in (1, 3, 5))
    odd = "0,1,3,4,6,7,9,10,12,13,15,16,18,19,21,22,24,25,27,28,30,31,33,34,36,37,39,40,42,43,45"

    assert Cron(f"0 9 * * {weekdays}").explain() == (
        "09:00 on the days that the cron text lists, UTC"
    )
    assert Cron(f"{odd} 1,2,4,6,8,9,12 * * *").explain() == "217 times a day every day, UTC"


# Truth: the words of simple rules tell when they fire.

MINUTES = ("*", "0", "30", "0,30", "*/30", "*/7", "0-59", "5-59/10", "5/10", "10,20,40")
HOURS = ("*", "9", "0-23", "*/2", "9-17", "9-17/2", "1,3,5", "22-5", "*/12", "0,12")
SECONDS = ("0 ", "30 ", "*/15 ", "0-59 ")
DAY_PARTS = tuple(
    f"{day} {month} {weekday}"
    for day, month, weekday in product(
        ("*", "1", "1-31", "*/2", "1-31/2", "15W", "L", "29", "1,L", "29-L", "-3-L"),
        ("*", "2", "1-12", "6-8", "6,7,8"),
        ("*", "1-5", "mon-fri", "0-6", "7", "5#2", "5L", "fri#-1", "*/2"),
    )
)


def answers(grid: Grid, step: timedelta, count: int) -> list[datetime | None]:
    return [grid.after(START + number * step) for number in range(count)]


def assert_told_apart(texts: list[str], step: timedelta, count: int) -> None:
    by_words: dict[str, tuple[str, list[datetime | None]]] = {}
    for text in texts:
        try:
            grid = Cron(text)
        except NeverFires:
            continue
        words, times = grid.explain(), answers(grid, step, count)
        other, expected = by_words.setdefault(words, (text, times))
        assert times == expected, f"{other} and {text} are both told as: {words}"


TIMES = [f"{s}{m} {h} * * *" for s, m, h in product(SECONDS, MINUTES, HOURS)]
EVENLY = re.compile(r"every (\d+ )?(second|minute|hour)s?(?: from (\S+) to (\S+) every day, UTC)?")
SECONDS_OF = {"second": 1, "minute": 60, "hour": 3600}


def test_times_of_day_told_alike_are_alike() -> None:
    assert_told_apart(TIMES, timedelta(seconds=293), 300)


def test_times_told_as_even_are_even() -> None:
    told = [(text, EVENLY.fullmatch(Cron(text).explain())) for text in TIMES]
    for text, found in told:
        if found:
            step = int(found[1] or 1) * SECONDS_OF[found[2]]
            first, last = found[3] or "00:00", found[4] or "23:59:59"
            expected = range(second_of_day(first), second_of_day(last) + 1, step)
            slots = Cron(text).between(START, START + timedelta(days=1))
            assert [second_of_day(f"{slot:%H:%M:%S}") for slot in slots] == list(expected), text

    assert sum(found is not None for _, found in told) > 50


def second_of_day(shown: str) -> int:
    return sum(
        int(part) * unit for part, unit in zip(shown.split(":"), (3600, 60, 1), strict=False)
    )


def test_days_told_alike_are_alike() -> None:
    assert_told_apart([f"0 9 {days}" for days in DAY_PARTS], timedelta(days=1), 4 * 366)


@given(st.lists(st.integers(0, 23 * 60 + 59), min_size=1, max_size=2, unique=True))
def test_the_times_told_are_the_times_of_the_day(minutes: list[int]) -> None:
    hours, past = {minute // 60 for minute in minutes}, {minute % 60 for minute in minutes}
    grid = Cron(f"{','.join(map(str, past))} {','.join(map(str, hours))} * * *")
    assume(len(hours) * len(past) <= 4)

    told = re.findall(r"\d\d:\d\d", grid.explain())

    assert told == [f"{slot:%H:%M}" for slot in grid.between(START, START + timedelta(days=1))]


# Robustness: any valid text is told, briefly.


def fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high).map(str)
    pair = st.tuples(st.integers(low, high), st.integers(low, high)).map(sorted)
    ranges = st.builds(lambda ends, step: f"{ends[0]}-{ends[1]}/{step}", pair, st.integers(1, 12))
    steps = st.integers(1, high).map(lambda step: f"*/{step}")
    lists = st.lists(st.one_of(number, ranges), min_size=1, max_size=12).map(",".join)
    return st.one_of(st.just("*"), number, steps, lists)


NTH = st.builds("{}#{}".format, st.integers(0, 7), st.sampled_from(["1", "2", "5", "-1"]))
WEEKDAY = st.one_of(fields(0, 6), st.lists(NTH, min_size=1, max_size=9).map(",".join))
SPECIAL_DAY = st.sampled_from(
    ["L", "LW", "15W,31W", "-3,L", "L-5,1", "1,L-7W,9W", "1-L/8", "-9-L/2"]
)
DAY = st.one_of(fields(1, 31), SPECIAL_DAY)
TEXTS = st.tuples(fields(0, 59), fields(0, 59), fields(0, 23), DAY, fields(1, 12), WEEKDAY).map(
    " ".join
)


def readable(text: str) -> Cron:
    assume(len(text) <= 256)
    try:
        return Cron(text, timezone="America/Argentina/ComodRivadavia")
    except NeverFires:
        assume(condition=False)
        raise


@given(TEXTS)
def test_any_cron_text_is_told_briefly(text: str) -> None:
    words = readable(text).explain()

    assert 0 < len(words) <= 320
    assert words == " ".join(words.split())


ANCHORS = st.one_of(st.none(), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001
UNITS = st.sampled_from(["seconds", "minutes", "hours", "days", "weeks", "months", "years"])
ZONES = st.sampled_from(["UTC", "Europe/Rome", "Australia/Lord_Howe", "Pacific/Apia"])


@given(st.integers(1, 100), UNITS, ANCHORS, ZONES)
def test_any_anchor_grid_is_told_briefly(
    count: int, unit: str, anchor: datetime | None, zone: str
) -> None:
    grid: Grid = Every(count, unit, anchor=anchor, timezone=zone)

    assert 0 < len(grid.explain()) <= 160


@given(st.integers(0, 59), st.sampled_from([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]))
def test_an_anchor_grid_told_like_a_cron_text_fires_like_it(minute: int, step: int) -> None:
    anchored = Every(step, "minutes", anchor=datetime(2025, 1, 1, 5, minute))  # noqa: DTZ001
    cron = Cron(f"{','.join(str(n) for n in range(minute % step, 60, step))} * * * *")

    assert anchored.explain().replace("60 minutes", "hour") == cron.explain()
    assert anchored.times(START, 70) == cron.times(START, 70)
