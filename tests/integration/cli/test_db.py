"""`sempre db status` and `db prune`: how much a store holds, and making room."""

import os
import pty
import subprocess
import sys
from datetime import timedelta

import pytest

from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.testing.contracts.store.builders import draft_schedule, row_of
from tests.integration.cli.programs import clean_environment
from tests.integration.cli.shop import Shop, lines

DAY = timedelta(days=1)


@pytest.fixture
def old(shop: Shop) -> Shop:
    """A shop with a schedule whose executions ended 10, 20, .. 50 days ago; it keeps three."""
    store = shop.app.engine.store
    schedule = draft_schedule(store, "old", keep=3)
    ends = [store.last_pass().now - days * DAY for days in (50, 40, 30, 20, 10)]
    rows = [
        row_of(
            View(schedule),
            end,
            kind=Kind.MANUAL,
            state=State.SUCCEEDED,
            first_started_at=end,
            started_at=end,
            finished_at=end,
        )
        for end in ends
    ]
    store.create([Birth(schedule, tuple(rows))])
    return shop


def left(shop: Shop) -> int:
    return len(shop.app.schedule("old").executions(limit=100))


def test_status_tells_how_much_the_store_holds(old: Shop) -> None:
    old.app.watchdog.perform()

    shown = "\n".join(lines(old.cli("db", "status")))
    told = old.answer("db", "status")

    assert "schema       3" in shown
    assert "schedules    4" in shown
    assert "purged 2" in shown
    assert (told["version"], told["schedules"], told["ranges"], told["purged"]) == (3, 4, 0, 2)
    assert told["executions"] > 3
    assert told["first_end"] < told["last_end"] < told["last_pass_at"]


def test_status_of_a_new_store_has_no_history(shop: Shop) -> None:
    told = shop.answer("db", "status")

    assert (told["first_end"], told["last_end"], told["last_pass_at"]) == (None, None, None)


def test_a_dry_run_counts_and_deletes_nothing(old: Shop) -> None:
    result = old.cli("db", "prune", "--older-than", "15d", "--dry-run")

    assert lines(result) == ["2 executions older than 15d"]
    assert result.stderr == "nothing was deleted.\n"
    assert old.answer("db", "prune", "--older-than", "15d", "--keep", "0", "--dry-run")["old"] == 4
    assert left(old) == 5


def test_prune_needs_yes(old: Shop) -> None:
    result = old.cli("db", "prune", "--older-than", "15d")

    assert result.exit_code == 5
    assert "2 executions older than 15d would be deleted; confirm with --yes." in result.stderr
    assert "--older-than 15d --dry-run" in result.stderr
    assert left(old) == 5


def test_prune_keeps_what_schedules_keep(old: Shop) -> None:
    assert lines(old.cli("db", "prune", "--older-than", "15d", "--yes")) == [
        "ok 2 executions deleted"
    ]
    assert left(old) == 3
    assert lines(old.cli("db", "prune", "--older-than", "15d")) == ["ok 0 executions deleted"]


def test_prune_keeps_as_many_as_asked_for(old: Shop) -> None:
    told = old.answer("db", "prune", "--older-than", "15d", "--keep", "1", "--yes")

    assert (told["old"], told["deleted"]) == (4, 4)
    assert left(old) == 1
    counts = old.answer("show", "old")["schedule"]["purged"]
    assert sum(each["count"] for each in counts) == 4


def test_show_tells_what_is_kept_and_what_was_purged(old: Shop) -> None:
    old.cli("db", "prune", "--older-than", "15d", "--yes")

    shown = "\n".join(lines(old.cli("show", "old")))

    assert "history      kept 30d (the setting retention); the newest 3 at any age" in shown
    assert "purged       manual: 2 succeeded; from " in shown


def test_show_tells_a_retention_of_its_own(shop: Shop) -> None:
    shop.app.schedule("leap").edit(retention="90d", keep=0)

    assert "  history      kept 90d" in lines(shop.cli("show", "leap"))


@pytest.mark.parametrize("age", ["soon", "0s", "-1d"])
def test_an_age_that_cannot_be_read_is_wrong_usage(shop: Shop, age: str) -> None:
    assert shop.cli("db", "prune", f"--older-than={age}", "--yes").exit_code == 2


def test_a_terminal_shows_a_bar_on_stderr(old: Shop) -> None:
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "sempre", "db", "prune", "--older-than", "15d", "--yes"]
    environment = {**clean_environment(), "SEMPRE_STORE": old.url, "TERM": "xterm"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=writer, text=True
    ) as process:
        out, _ = process.communicate(timeout=60)
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)

    assert process.returncode == 0
    assert out == "ok 2 executions deleted\n"
    assert "deleting" in shown
    assert "100%" in shown
