"""`executions`: what happened last comes first, the future is apart, and -f follows."""

import json
import signal
from pathlib import Path

import pytest

from sempre import Cron
from tests.integration.cli.programs import Program, program
from tests.integration.cli.schema import check
from tests.integration.cli.shop import Shop, lines


def test_what_happened_last_comes_first(shop: Shop) -> None:
    ids = [*shop.run("leap"), *shop.run("doomed"), *shop.run("leap")]

    found = [each["id"] for each in shop.answer("executions")["executions"]]

    assert found == ids[::-1]


def test_the_future_is_apart(shop: Shop) -> None:
    shop.run("leap")
    shop.app.add("sooner", Cron("0 3 28 2 *", timezone="Europe/Rome"), shop.app.job(lambda: None))
    shop.app.sync()

    past = shop.answer("executions")["executions"]
    future = shop.answer("executions", "--upcoming")["executions"]
    waiting = shop.answer("executions", "--state", "scheduled", "--state", "pending")["executions"]

    assert [each["state"] for each in past] == ["succeeded"]
    slots = [each["run_at"] for each in future]
    assert slots == sorted(slots)
    assert [each["schedule"] for each in future] == ["hourly", "sooner", "leap", "doomed"]
    assert {each["id"] for each in waiting} == {each["id"] for each in future}
    assert len(lines(shop.cli("executions", "--upcoming", "-n", "2"))) == 3


@pytest.mark.parametrize("words", [["--upcoming"], ["--until", "1h"]])
def test_the_past_and_the_future_are_not_followed(shop: Shop, words: list[str]) -> None:
    assert shop.cli("executions", "-f", *words).exit_code == 2


def next_lines(following: Program, count: int) -> list[str]:
    """Read lines of stdout until there are so many."""
    assert following.process.stdout is not None
    return [following.process.stdout.readline().rstrip("\n") for _ in range(count)]


def test_following_prints_the_latest_and_then_each_change(shop: Shop, tmp_path: Path) -> None:
    shop.run("leap")
    with program(tmp_path, "executions", "-f", "--store", shop.url) as following:
        heading, first = next_lines(following, 2)
        waiting = shop.app.schedule("doomed").trigger()
        [born] = next_lines(following, 1)
        shop.work()
        [ended] = next_lines(following, 1)
        code = following.end(signal.SIGINT)

    assert heading.startswith("ID ")
    assert " leap " in first
    assert born.startswith(waiting.id)
    assert " scheduled " in born
    assert ended.startswith(waiting.id)
    assert " failed " in ended
    assert code == 130
    assert following.lines[0].startswith("times: ")


def test_following_in_json_prints_an_object_per_line(shop: Shop, tmp_path: Path) -> None:
    [identity] = shop.run("leap")
    with program(tmp_path, "executions", "-f", "--json", "--store", shop.url) as following:
        [first] = next_lines(following, 1)
        [second] = shop.run("doomed")
        seen = [json.loads(each)["execution"] for each in next_lines(following, 1)]
        while seen[-1]["state"] != "failed":
            seen += [json.loads(each)["execution"] for each in next_lines(following, 1)]
        following.end(signal.SIGINT)

    assert check("executions --follow", first)["execution"]["id"] == identity
    assert {each["id"] for each in seen} == {second}
