"""The verbs on a real SQLite file: what they change, what they say, how they refuse."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Cron
from sempre.domain.states import State
from tests.integration.cli.shop import Shop, lines


def print_nothing() -> None:
    """Stand for the user's function."""


def test_run_makes_an_execution_and_prints_its_id(shop: Shop) -> None:
    result = shop.cli("run", "leap")

    [identity] = lines(result)
    [row] = [row for row in shop.app.schedule("leap").executions() if row.id == identity]
    assert row.kind == "manual"
    assert "warning: no worker is alive" in result.stderr


def test_run_and_wait_tells_the_outcome(shop: Shop) -> None:
    with shop.app.running(sync=False):
        result = shop.cli("run", "leap", "--wait")

    assert result.exit_code == 0
    assert result.stdout.startswith("succeeded leap in ")
    assert result.stdout.endswith(': "leapt in all"\n')


def test_run_and_wait_of_a_failure_exits_with_1(shop: Shop) -> None:
    with shop.app.running(sync=False):
        result = shop.cli("run", "doomed", "--wait")

    assert result.exit_code == 1
    assert result.stdout.startswith("failed doomed")
    assert "ValueError: no such region" in result.stderr


def test_run_and_wait_in_json_has_result_and_error(shop: Shop) -> None:
    with shop.app.running(sync=False):
        good = shop.answer("run", "leap", "--wait")["execution"]
        bad = shop.answer("run", "doomed", "--wait")["execution"]

    assert (good["state"], good["result"], good["error"]) == ("succeeded", "leapt in all", None)
    assert bad["state"] == "failed"
    assert "no such region" in bad["error"]


def test_waiting_has_an_end(shop: Shop) -> None:
    result = shop.cli("run", "leap", "--wait", "--timeout", "0s")

    assert result.exit_code == 1
    assert "has not ended after 0s; it goes on." in result.stderr
    assert "  try: sempre execution " in result.stderr


def test_run_works_on_a_paused_schedule(shop: Shop) -> None:
    shop.cli("pause", "leap")

    assert shop.cli("run", "leap").exit_code == 0


def test_pause_and_resume(shop: Shop) -> None:
    paused = shop.cli("pause", "leap", "hourly", "-m", "migration")

    assert lines(paused) == ["paused leap, no next slot", "paused hourly, no next slot"]
    assert shop.app.schedule("leap").row.pause is not None

    resumed = lines(shop.cli("resume", "leap"))

    assert resumed == ["resumed leap, next Tue 29 Feb 2028 03:00 +01:00"]
    assert shop.app.schedule("leap").row.pause is None


def test_pause_until_an_instant_or_for_a_length_of_time(shop: Shop) -> None:
    shop.cli("pause", "leap", "--until", "2030-01-01T00:00Z")
    shop.cli("pause", "hourly", "--until", "2h")

    pause, other = shop.app.schedule("leap").row.pause, shop.app.schedule("hourly").row.pause
    assert pause is not None
    assert pause.until == datetime(2030, 1, 1, tzinfo=UTC)
    assert other is not None
    assert other.until is not None
    assert other.until - shop.app.clock.now() < timedelta(hours=2)


def test_a_pause_that_would_be_over_is_refused(shop: Shop) -> None:
    result = shop.cli("pause", "leap", "--until", "2020-01-01T00:00Z")

    assert result.exit_code == 5
    assert "not in the future" in result.stderr


def test_an_instant_that_cannot_be_read_is_a_usage_error(shop: Shop) -> None:
    result = shop.cli("pause", "leap", "--until", "2030-13-01 00:00")

    assert result.exit_code == 2
    assert "such as 2026-01-31 09:00Z" in result.stderr


def test_one_unknown_name_changes_nothing(shop: Shop) -> None:
    result = shop.cli("pause", "leap", "nothing")

    assert result.exit_code == 4
    assert shop.app.schedule("leap").row.pause is None


def test_disable_and_enable(shop: Shop) -> None:
    assert lines(shop.cli("disable", "leap")) == ["disabled leap, no next slot"]
    assert not shop.app.schedule("leap").definition.enabled
    assert lines(shop.cli("disable", "leap")) == ["already disabled leap, no next slot"]
    assert shop.answer("enable", "leap") == {
        "schedules": [{"name": "leap", "done": True, "next_run_at": "2028-02-29T02:00:00Z"}]
    }


def test_enable_starts_a_schedule_that_was_created_disabled(shop: Shop) -> None:
    later = shop.app.job(name="later")(print_nothing)
    shop.app.create_schedules([("later", Cron("0 3 29 2 *"), later)], enabled=False)

    assert lines(shop.cli("enable", "later")) == ["enabled later, next Tue 29 Feb 2028 03:00 UTC"]
    assert shop.app.schedule("later").started


def test_skip_and_unskip_the_next_slot(shop: Shop) -> None:
    skipped = lines(shop.cli("skip", "leap"))

    assert skipped == [
        "skipped leap Tue 29 Feb 2028 03:00 +01:00, next Sun 29 Feb 2032 03:00 +01:00"
    ]
    assert lines(shop.cli("unskip", "leap")) == [
        "restored leap Tue 29 Feb 2028 03:00 +01:00, next Tue 29 Feb 2028 03:00 +01:00"
    ]


def test_skip_and_unskip_a_slot_by_its_instant(shop: Shop) -> None:
    slot = "2032-02-29T02:00Z"

    assert shop.answer("skip", "leap", "--at", slot)["slot"] == "2032-02-29T02:00:00Z"
    rows = shop.app.schedule("leap").executions()
    assert [row.run_at.year for row in rows if row.state is State.SKIPPED] == [2032]
    assert shop.cli("unskip", "leap", "--at", slot).exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["skip", "leap", "--at", "2032-02-28T02:00Z"],
        ["skip", "leap", "--at", "2024-02-29T02:00Z"],
        ["unskip", "leap"],
        ["unskip", "leap", "--at", "2032-02-29T02:00Z"],
    ],
)
def test_a_slot_that_cannot_be_skipped_or_put_back_is_refused(
    shop: Shop, arguments: list[str]
) -> None:
    result = shop.cli(*arguments)

    assert result.exit_code == 5
    assert result.stderr.startswith("error: ")
    assert result.stdout == ""


def test_skip_of_a_schedule_without_a_next_slot_is_not_found(shop: Shop) -> None:
    shop.cli("disable", "leap")

    assert shop.cli("skip", "leap").exit_code == 4


def test_who_did_it_is_recorded(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")

    shop.cli("pause", "leap")

    assert json.dumps(shop.answer("list", "leap")["schedules"][0]["pause"]["actor"]) == '"ann"'
