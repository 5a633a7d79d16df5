"""Tables on a terminal fit its width, and name their one time zone; pipes get everything."""

import re
from pathlib import Path

import pytest

from sempre import Cron
from sempre.testing.contracts.store.builders import claimed, session_of
from tests.integration.cli.programs import finished
from tests.integration.cli.shop import Shop
from tests.integration.cli.terminal import on_terminal

FULL_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
COMMANDS = [
    ["list"],
    ["show", "doomed"],
    ["next"],
    ["executions"],
    ["executions", "--upcoming"],
    ["workers"],
    ["queues"],
    ["pairs"],
    ["top", "--once"],
]


def crowded(shop: Shop) -> Shop:
    """Add long names, failures and a worker to a store."""
    long = "nightly-export-of-all-invoices-to-the-archive"

    @shop.app.job
    def export() -> None:
        raise ConnectionError("no route to the archive, though this sentence is far too long " * 3)

    shop.app.add(long, Cron("0 3 29 2 *", timezone="Europe/Rome"), export, retry=0)
    shop.app.sync()
    shop.run("leap", "doomed", "doomed", long)
    store = shop.app.engine.store
    claimed(store, shop.app.schedule(long).trigger().id, session_of(store))
    return shop


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(
    shop: Shop, tmp_path: Path, words: list[str], columns: int
) -> None:
    crowded(shop)

    answer = on_terminal(tmp_path, *words, "--store", shop.url, columns=columns)

    assert answer.lines
    assert max(map(len, answer.lines)) <= columns


def test_a_terminal_shows_prefixes_that_differ_and_that_commands_accept(
    shop: Shop, tmp_path: Path
) -> None:
    crowded(shop)

    heading, *rows = on_terminal(tmp_path, "executions", "--store", shop.url).lines

    assert heading.startswith("ID ")
    prefixes = [row.split()[0] for row in rows if not row.startswith("   ")]
    assert len(set(prefixes)) == len(prefixes) == 5
    assert {len(each) for each in prefixes} <= set(range(8, 36))
    for prefix in prefixes:
        assert shop.cli("execution", prefix).exit_code == 0


@pytest.mark.parametrize("words", [["executions"], ["show", "doomed"], ["workers"]])
def test_a_pipe_and_wide_get_full_ids(shop: Shop, tmp_path: Path, words: list[str]) -> None:
    crowded(shop)
    pattern = FULL_ID.replace("-7", "-[47]")

    piped = finished(tmp_path, *words, "--store", shop.url).stdout
    wide = on_terminal(tmp_path, *words, "--wide", "--store", shop.url).lines
    narrow = on_terminal(tmp_path, *words, "--store", shop.url).lines

    assert re.search(pattern, piped)
    assert re.search(pattern, "\n".join(wide))
    assert not re.search(pattern, "\n".join(narrow))


@pytest.mark.parametrize(
    ("words", "zone"),
    [
        (["list"], "UTC"),
        (["list", "leap"], "Europe/Rome (--utc)"),
        (["list", "leap", "--utc"], "UTC"),
        (["show", "hourly"], "Asia/Tokyo (--utc)"),
        (["next", "hourly"], "Asia/Tokyo (--utc)"),
        (["executions", "--upcoming"], "UTC"),
    ],
)
def test_one_zone_is_named_on_stderr_for_all_times_of_a_table(
    shop: Shop, words: list[str], zone: str
) -> None:
    result = shop.cli(*words)

    assert result.stderr.splitlines()[-1] == f"times: {zone}"
    labels = set(re.findall(r"\d\d:\d\d (UTC|[+-]\d\d:\d\d)", result.stdout))
    assert len(labels) == 1


def test_the_zone_of_the_application_goes_first(shop: Shop, tmp_path: Path) -> None:
    run = finished(tmp_path, "list", "--store", shop.url, SEMPRE_TIMEZONE="Europe/Rome")

    assert run.stderr.endswith("times: Europe/Rome (--utc)\n")
    assert set(re.findall(r"\d\d:\d\d (UTC|[+-]\d\d:\d\d)", run.stdout)) == {"+01:00"}


def test_json_and_tables_without_times_name_no_zone(shop: Shop) -> None:
    for words in (["list", "--json"], ["executions", "--failed"], ["queues"]):
        assert "times:" not in shop.cli(*words).stderr
