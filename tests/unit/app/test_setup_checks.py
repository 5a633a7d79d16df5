"""The checks of `sempre doctor`, without a store."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sempre.app.health.setup import Forgetful, Setup
from sempre.app.health.setup_checks import SETUP_CODES, outdated_schema, setup_problems
from sempre.config import Settings
from tests.architecture.source import ROOT

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WELL = Setup(
    settings=Settings(),
    tzdata="2026.3",
    fleet_tzdata={"2026.3": ["a", "b"]},
    releases={4: ["a", "b"]},
)
ILL = {
    "S702": replace(WELL, weaker=("no append-only file: a crash loses acknowledged work",)),
    "S703": replace(WELL, fleet_tzdata={"2026.1": ["a"], "2026.3": ["b"]}),
    "S704": replace(WELL, releases={3: ["a"], 4: ["b"]}),
    "S705": replace(WELL, settings=Settings(watchdog_interval=2 * HOUR)),
    "S706": replace(WELL, forgetful=[Forgetful("leap", 365 * DAY, 30 * DAY)]),
    "S707": replace(WELL, in_need=["bill"]),
    "S708": replace(WELL, broker="connection refused."),
    "S709": replace(WELL, unserved={"bill": "slow"}),
}
ERRORS = {"S708", "S709"}


def test_nothing_is_wrong_with_the_defaults() -> None:
    assert setup_problems(WELL) == []
    assert setup_problems(Setup(settings=Settings())) == []


@pytest.mark.parametrize("code", ILL)
def test_each_problem_has_its_code(code: str) -> None:
    [problem] = setup_problems(ILL[code])

    assert problem.code == code
    assert problem.severity == ("error" if code in ERRORS else "warning")
    assert problem.message.endswith(".")


def test_every_code_is_produced() -> None:
    assert {*ILL, outdated_schema("old.").code} == SETUP_CODES.keys()


@pytest.mark.parametrize("code", SETUP_CODES)
def test_each_code_is_documented(code: str) -> None:
    assert f"## {code}\n" in (ROOT / "docs" / "reference" / "status.md").read_text()


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (Settings(lease=timedelta(seconds=3), beat=timedelta(seconds=1)), ["lease"]),
        (Settings(watchdog_interval=2 * HOUR), ["watchdog_interval"]),
        (Settings(horizon=timedelta(minutes=9)), ["horizon"]),
        (Settings(horizon=timedelta(minutes=10), watchdog_interval=timedelta(minutes=5)), []),
    ],
)
def test_settings_that_are_allowed_and_dangerous_are_named(
    settings: Settings, names: list[str]
) -> None:
    found = setup_problems(replace(WELL, settings=settings))

    assert [problem.names[0] for problem in found] == names


def test_time_zones_that_differ_are_told_with_their_hosts() -> None:
    [problem] = setup_problems(ILL["S703"])

    assert problem.message == "the time zones differ: 2026.3 on this host, 2026.1 (a), 2026.3 (b)."
    assert problem.advice.startswith("pip install --upgrade tzdata")


def test_a_broker_that_is_down_tells_what_workers_do_instead() -> None:
    [problem] = setup_problems(ILL["S708"])

    assert problem.message == (
        "the broker cannot be used: connection refused. "
        "Workers query the store instead, at worst one sweep late."
    )


def test_a_schedule_that_forgets_its_last_run_tells_both_lengths() -> None:
    [problem] = setup_problems(ILL["S706"])

    assert problem.message == (
        "1 schedule with slots farther apart than history is kept: leap. "
        "leap runs every 365d, and keeps nothing for longer than 30d."
    )
