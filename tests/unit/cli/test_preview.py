import json

import pytest

from sempre.cli.commands.preview import grid_of_text
from sempre.cli.output import VERSION
from sempre.grids import Cron, Every
from tests.unit.cli.commands import sempre


def test_a_cron_text_is_explained_with_its_next_times_and_clock_changes() -> None:
    options = ("--tz", "Europe/Rome", "--after", "2026-03-28T12:00Z", "-n", "2")

    result = sempre("preview", "30 2 * * *", *options)

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "02:30 every day, Europe/Rome",
        "  Sun 29 Mar 03:00 +02:00",
        "  Mon 30 Mar 02:30 +02:00",
        "note: 02:30 does not exist on the day the clock goes forward; it runs at 03:00 then.",
        "note: 02:30 comes twice on the day the clock goes back; it runs the first time only.",
    ]


def test_times_can_be_asked_for_in_utc() -> None:
    options = ("--tz", "Europe/Rome", "--after", "2026-03-28T12:00Z", "-n", "1", "--utc")

    result = sempre("preview", "30 2 * * *", *options)

    assert "  Sun 29 Mar 01:00 UTC" in result.stdout


def test_an_interval_is_explained_too() -> None:
    result = sempre("preview", "every 15m", "--after", "2026-03-28T12:00Z", "-n", "1")

    assert result.stdout.splitlines() == ["every 15 minutes", "  Sat 28 Mar 12:15 UTC"]


def test_json_has_the_rule_and_its_instants_in_utc() -> None:
    options = ("--tz", "Europe/Rome", "--after", "2026-03-28T12:00Z", "-n", "1", "--json")

    answer = json.loads(sempre("preview", "30 2 * * *", *options).stdout)

    assert answer["v"] == VERSION
    assert answer["times"] == ["2026-03-29T01:00:00Z"]
    assert answer["grid"]["text"] == "30 2 * * *"
    assert len(answer["notes"]) == 2


def test_by_default_it_counts_from_now() -> None:
    assert len(json.loads(sempre("preview", "@hourly", "--json").stdout)["times"]) == 5


@pytest.mark.parametrize("text", ["0 2,14 * * *", "@daily", "* * * *", "0 0 1 1 1 2026"])
def test_what_looks_like_cron_is_read_as_cron(text: str) -> None:
    result = sempre("preview", text)

    assert result.exit_code == 0 or "interval" not in result.stderr


@pytest.mark.parametrize("text", ["every 15m", "2 weeks", "1h30m", "every 1 month"])
def test_what_looks_like_an_interval_is_read_as_one(text: str) -> None:
    assert isinstance(grid_of_text(text, {}), Every)


def test_an_anchor_is_for_intervals_only() -> None:
    anchor: dict[str, str | None] = {"anchor": "2026-01-31 09:00"}

    assert grid_of_text("1 month", anchor) == Every("1 month", anchor="2026-01-31 09:00")
    assert grid_of_text("@daily", anchor) == Cron("@daily")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("every 15x", 'error: unit: "x" is not accepted'),
        ("61 * * * *", "error: minute:"),
        ("every", "error: interval:"),
    ],
)
def test_a_text_that_cannot_be_read_is_a_usage_error(text: str, message: str) -> None:
    result = sempre("preview", text)

    assert result.exit_code == 2
    assert result.stderr.startswith(message)


def test_an_unknown_zone_names_the_nearest() -> None:
    result = sempre("preview", "@daily", "--tz", "Europe/Roma")

    assert result.exit_code == 2
    assert "Did you mean Europe/Rome" in result.stderr
