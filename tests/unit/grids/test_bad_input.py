"""Whatever is wrong with an input, it is refused at once, by its name, with what is allowed."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from sempre import Cron, Every
from sempre.errors import (
    CronError,
    IntervalError,
    NeverFires,
    PolicyError,
    ZoneError,
)
from tests.unit.grids.clocks import at
from tests.unit.grids.refusals import refusal, tells

NOW = at("2026-01-01 00:00Z")
LONG = 1_000_000
WRONG_TYPES: list[Any] = [None, 5, 1.5, True, b"x", [], {}, ..., date, "\x00"]


# Cron texts


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("75 * * * *", "minute", "75"),
        ("60 * * * * *", "second", "60"),
        ("* 24 * * *", "hour", "24"),
        ("0 0 0 * *", "day", "0"),
        ("0 0 32 * *", "day", "32"),
        ("0 0 * 13 *", "month", "13"),
        ("0 0 * 0 *", "month", "0"),
        ("0 0 * * 8", "weekday", "8"),
        ("-5 * * * *", "minute", "-5"),
        ("*/0 * * * *", "minute", "*/0"),
        ("*/60 * * * *", "minute", "*/60"),
        ("1-60 * * * *", "minute", "60"),
        ("5/x * * * *", "minute", "5/X"),
        ("1.5 * * * *", "minute", "1.5"),
        ("1,, * * * *", "minute", ""),
        ("0 0 L-31 * *", "day", "L-31"),
        ("0 0 32W * *", "day", "32"),
        ("0 0 * * 5#6", "weekday", "5#6"),
        ("0 0 * * 5#0", "weekday", "5#0"),
        ("0 0 * * 8L", "weekday", "8"),
        ("0 0 * * L", "weekday", "L"),
        ("0 0 * foo *", "month", "FOO"),
        ("0 0 * january *", "month", "JANUARY"),
        ("0 9 * * *\x00", "weekday", "*\x00"),
        ("0 9 * * \x1b[31m", "weekday", "\x1b[31M"),
    ],
)
def test_a_cron_text_is_refused_by_the_field_at_fault(text: str, field: str, value: str) -> None:
    error = refusal(lambda: Cron(text))

    assert isinstance(error, CronError)
    assert not isinstance(error, NeverFires)
    assert error.field == field
    assert tells(error, value)
    assert error.whole == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\x00",
        "*",
        "* * * *",
        "* * * * * * *",
        "0 0 1 1 * 2026 2027",
        "@reboot",
        "@every 5m",
        "@",
        "@daily @daily",
        "CRON_TZ=Europe/Rome",
        "\u0663 * * * *",
        "\uff13 * * * *",
        "\u00b9 * * * *",
        "0 9 * * * \N{SNOWMAN}",
        "every day",
        "0 9 * * *" + " " * 300,
        "*" * LONG,
        "1," * LONG + "1 * * * *",
        "9" * LONG + " * * * *",
        " " * LONG,
        "@" * LONG,
        *WRONG_TYPES,
    ],
    ids=lambda text: repr(text)[:30],
)
def test_what_is_no_cron_text_is_refused_as_a_whole(text: Any) -> None:  # noqa: ANN401 - any at all
    error = refusal(lambda: Cron(text))

    assert isinstance(error, CronError)
    assert error.field == "cron"
    assert tells(error, text)


def test_a_date_that_no_year_has_is_its_own_error() -> None:
    error = refusal(lambda: Cron("0 0 30 2 *"))

    assert isinstance(error, NeverFires)
    assert tells(error, "0 0 30 2 *")


@pytest.mark.parametrize("space", ["\x1c", "\x1d", "\x1e", "\x1f"])
def test_a_control_character_is_no_space(space: str) -> None:
    refusal(lambda: Cron(space.join("09***")))


# Zones and policies


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "Europe/Rom", "europe/rome", "Europe/Rome ", "Mars/Base", "Europe", "UTC\n"),
        *("../../etc/passwd", "/etc/localtime", "Europe/Rome\x00", "\ud800", "x" * LONG),
        *WRONG_TYPES,
    ],
    ids=lambda name: repr(name)[:30],
)
def test_an_unknown_zone_is_refused(name: Any) -> None:  # noqa: ANN401 - any at all
    for build in (lambda: Cron("@daily", timezone=name), lambda: Every("1d", timezone=name)):
        error = refusal(build)

        assert isinstance(error, ZoneError)
        assert error.field == "timezone"
        assert tells(error, name)


@pytest.mark.parametrize(("field", "other"), [("gap", "first"), ("fold", "shift")])
@pytest.mark.parametrize(
    "value",
    ["", "SHIFT", "First", " skip", "x" * LONG, *WRONG_TYPES],
    ids=lambda value: repr(value)[:30],
)
def test_an_unknown_policy_is_refused(field: str, other: str, value: Any) -> None:  # noqa: ANN401
    for chosen in (value, other):
        policy: dict[str, Any] = {field: chosen}
        for build in (lambda: Cron("@daily", **policy), lambda: Every("1d", **policy)):  # noqa: B023
            error = refusal(build)

            assert isinstance(error, PolicyError)
            assert error.field == field
            assert tells(error, chosen)


# Intervals


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, -0.0, 0.5, 1.5, 1e-9, 1e308, float("nan"), float("inf"), float("-inf")),
        *(True, False, None, [], {}, ..., b"5m", 1j, Decimal(5), Fraction(5), NOW),
        *("", " ", "5", "m", "0m", "-5m", "0.5s", "1.5h", "nan s", "inf h", "1e3 s", "5 parsecs"),
        *("5 m o", "m5", "5m!", "5m,3s", "five minutes", "0x10 s", "1_0m", "1 day 2 hours"),
        *(
            "\u0665m",
            "\uff15m",
            "5\x00m",
            "5m\x00",
            "\u00bdh",
            "x" * LONG,
            "9" * LONG + "s",
            "* * * * *",
        ),
        *(timedelta(0), timedelta(days=-1), timedelta.max, timedelta.min),
        pytest.param(10**400, id="10**400"),
        pytest.param(-(10**400), id="-10**400"),
        timedelta(milliseconds=500),
        pytest.param("1s" * LONG, id="1s1s1s..."),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_interval_is_refused(value: Any) -> None:  # noqa: ANN401 - any at all
    error = refusal(lambda: Every(value))

    assert isinstance(error, IntervalError)
    assert error.field in ("interval", "unit")
    if isinstance(value, str):
        assert str(error.value) in value
    else:
        assert repr(error.value) == repr(value)
    assert tells(error, error.value) or isinstance(value, float)


@pytest.mark.parametrize(
    ("value", "unit", "field"),
    [
        (0, "days", "interval"),
        (-1, "days", "interval"),
        (1.5, "days", "interval"),
        (True, "days", "interval"),
        (None, "days", "interval"),
        (float("nan"), "days", "interval"),
        ([], "days", "interval"),
        ("nan", "days", "interval"),
        (timedelta(days=1), "days", "interval"),
        pytest.param(timedelta(seconds=3), "days", "interval"),
        pytest.param(timedelta(hours=1), "minutes", "interval"),
        (1, "", "unit"),
        (1, "fortnights", "unit"),
        (1, 5, "unit"),
        (1, [], "unit"),
        (1, True, "unit"),
        (1, b"days", "unit"),
        (1, "d" * LONG, "unit"),
        (1, "days\x00", "unit"),
        (1, "\uff44ays", "unit"),
        ("one", "days", "interval"),
        ("2 weeks", "days", "interval"),
        ("", "days", "interval"),
        ("\x00", "days", "interval"),
        pytest.param(10**400, "days", "interval", id="10**400"),
        ("\uff12", "days", "interval"),
        ("1_0", "days", "interval"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_number_or_unit_that_is_none_is_refused(value: Any, unit: Any, field: str) -> None:  # noqa: ANN401
    error = refusal(lambda: Every(value, unit))

    assert isinstance(error, IntervalError)
    assert error.field == field
