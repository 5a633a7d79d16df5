"""`sempre backfill`: which slots it would run, which it runs, and when it wants a word more."""

from datetime import timedelta

import pytest

from sempre import Cron, Sempre
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Birth
from tests.integration.cli.shop import Shop, lines


@pytest.fixture
def stretch(shop: Shop) -> list[str]:
    """Two days of a schedule that has been there for a week and ran nothing."""
    now = shop.app.clock.now().replace(minute=30)
    definition = define(job="leap", grid=Cron("@hourly"))
    old = Schedule(
        id="old",
        name="old",
        definition=definition,
        created_at=now - timedelta(days=7),
        cursor=now - timedelta(hours=1),
        started=True,
    )
    shop.app.engine.store.create([Birth(old)])
    begin, end = now - timedelta(hours=5), now - timedelta(hours=2)
    return ["--from", begin.isoformat(), "--to", end.isoformat()]


def test_a_dry_run_says_which_slots_would_run(shop: Shop, stretch: list[str]) -> None:
    result = shop.cli("backfill", "old", *stretch, "--dry-run")

    assert len(lines(result)) == 3
    assert result.stderr == "3 slots would run.\n"
    assert shop.app.schedule("old").executions() == []


def test_a_backfill_runs_the_slots(shop: Shop, stretch: list[str]) -> None:
    planned = shop.answer("backfill", "old", *stretch, "--dry-run")["slots"]

    made = shop.answer("backfill", "old", *stretch)["executions"]

    assert [each["run_at"] for each in made] == planned
    assert {each["kind"] for each in made} == {"backfill"}


def test_what_waits_already_is_not_run_twice(shop: Shop, stretch: list[str]) -> None:
    shop.cli("backfill", "old", *stretch)

    result = shop.cli("backfill", "old", *stretch)

    assert lines(result) == []
    assert result.stderr == "0 slots of old will run, one at a time.\n"


def test_slots_before_retention_are_counted_and_need_a_word_more(
    shop: Shop, stretch: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMPRE_RETENTION", "3h")

    dry = shop.cli("backfill", "old", *stretch, "--dry-run")
    planned = shop.answer("backfill", "old", *stretch, "--dry-run")
    refused = shop.cli("backfill", "old", *stretch)
    assumed = shop.answer("backfill", "old", *stretch, "--assume-not-run")

    early = planned["before_retention"]
    assert early + len(planned["slots"]) == 3
    assert early in (1, 2)
    assert f"{early} slots are older than" in dry.stderr
    assert "--assume-not-run" in dry.stderr
    assert refused.exit_code == 5
    assert "--assume-not-run" in refused.stderr
    assert "3h" in refused.stderr
    assert len(assumed["executions"]) == 3


def test_many_slots_need_a_word_more(shop: Shop, stretch: list[str]) -> None:
    begin = (shop.app.clock.now() - timedelta(days=6)).isoformat()

    result = shop.cli("backfill", "old", "--from", begin, *stretch[2:])

    assert result.exit_code == 5
    assert "confirm with --yes" in result.stderr
    assert shop.cli("backfill", "old", "--from", begin, *stretch[2:], "--yes").exit_code == 0


def test_a_paused_schedule_is_refused(shop: Shop, stretch: list[str]) -> None:
    shop.cli("pause", "old")

    result = shop.cli("backfill", "old", *stretch)

    assert result.exit_code == 5
    assert "enable or resume it" in result.stderr


def test_both_ends_are_needed(shop: Shop) -> None:
    assert shop.cli("backfill", "leap").exit_code == 2


def test_the_library_and_the_command_agree(shop: Shop, stretch: list[str]) -> None:
    app: Sempre = shop.app
    planned = shop.answer("backfill", "old", *stretch, "--dry-run")["slots"]

    rows = app.schedule("old").backfill(stretch[1], stretch[3])

    assert len(rows) == len(planned)
