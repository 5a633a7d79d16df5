"""`show --json` is complete and typed; `executions` lists slots that passed without a row."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sempre import Cron, Every, Retry
from sempre.app import StoredSchedule
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Birth
from tests.integration.cli.shop import Shop


def test_show_in_json_is_complete_and_typed(shop: Shop) -> None:
    @shop.app.job(name="typed")
    def typed(region: str, token: str, count: int) -> None: ...

    call = typed.bind(region="eu", token="hunter2", count=3)  # noqa: S106 - masked below
    grid = Cron("30 2 * * 1-5", timezone="Europe/Rome", fold="last")
    shop.app.create_schedules(
        [("typed", grid, call)],
        retry=Retry(5, base="10s", cap="1h"),
        timeout="20m",
        tags=["b", "a"],
        until="2040-01-01T00:00Z",
        limit=7,
        owner="shop",
        note="new prices",
    )

    shown = shop.answer("show", "typed")["schedule"]["definition"]

    assert shown == {
        "job": "typed",
        "grid": {
            "grid": "cron",
            "text": "30 2 * * 1-5",
            "timezone": "Europe/Rome",
            "gap": "shift",
            "fold": "last",
        },
        "args": {"region": "eu", "token": "[redacted]", "count": 3},
        "queue": "default",
        "priority": 1000,
        "enabled": True,
        "catch_up": False,
        "catch_up_within": None,
        "catch_up_max": None,
        "tolerance": 60.0,
        "deadline": None,
        "overlap": "skip",
        "jitter": 0.0,
        "until": "2040-01-01T00:00:00Z",
        "limit": 7,
        "retry": {"limit": 5, "base": 10.0, "cap": 3600.0},
        "timeout": 1200.0,
        "on_unknown": "rerun",
        "alert_after": 1,
        "retention": None,
        "keep": 100,
        "tags": ["a", "b"],
        "redact": [],
        "limits": [],
        "owner": "shop",
        "note": "new prices",
    }


def print_nothing() -> None: ...


def test_show_in_json_tells_whether_code_declares_it(shop: Shop) -> None:
    made = shop.app.job(print_nothing)
    shop.app.create_schedules([("made", Every("1d"), made)])

    declared = [shop.answer("show", name)["schedule"]["declared"] for name in ("leap", "made")]

    assert declared == [True, False]


def old_schedule(shop: Shop, name: str, **options: Any) -> None:  # noqa: ANN401 - of any policy
    """Create an hourly schedule whose last decided slot is five hours ago."""
    now = shop.app.clock.now().replace(minute=30, second=0, microsecond=0)
    then = now - timedelta(hours=5)
    definition = define(job="leap", grid=Cron("@hourly"), **options)
    row = Schedule(
        id=name, name=name, definition=definition, created_at=then, cursor=then, started=True
    )
    shop.app.engine.store.create([Birth(row)])


@pytest.mark.parametrize(
    ("state", "options", "verb"),
    [
        ("missed", {}, lambda old: old.disable()),
        ("skipped", {"enabled": False}, lambda old: old.enable()),
        ("superseded", {}, lambda old: old.move_to(Cron("@daily"))),
    ],
)
def test_slots_that_passed_without_a_row_are_listed_under_their_state(
    shop: Shop, state: str, options: dict[str, Any], verb: Callable[[StoredSchedule], object]
) -> None:
    old_schedule(shop, "old", **options)
    verb(shop.app.schedule("old"))

    told = shop.answer("executions", "--state", state)
    others = {each for each in ("missed", "skipped", "superseded") if each != state}

    [found] = told["ranges"]
    assert (found["schedule"], found["state"]) == ("old", state)
    assert found["count"] in (4, 5, 6)
    assert found["first"] < found["last"]
    assert all(shop.answer("executions", "--state", each)["ranges"] == [] for each in others)
    assert shop.answer("executions", "-s", "old", "--state", state)["ranges"] == [found]
    assert shop.answer("executions", "-s", "leap", "--state", state)["ranges"] == []
    assert shop.answer("executions", "--state", state, "--until", "1d")["ranges"] == []
    assert shop.answer("executions", "--state", state, "--kind", "manual")["ranges"] == []
    assert shop.answer("executions")["ranges"] == []
    text = shop.cli("executions", "--state", state).stdout
    assert "FROM" in text
    assert re.search(rf"old .* {found['count']} +{state} ", text)
