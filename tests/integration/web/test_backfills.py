"""A backfill shows the slots that would run first; those run, or nothing does."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre import Sempre
from sempre.clock import SystemClock
from tests.integration.web.conftest import NASTY, Client
from tests.integration.web.test_edits import fields_of

FORM = "/acts/schedules/backfill"
PREVIEW = f"{FORM}/preview"


@pytest.fixture
def period(app: Sempre) -> dict[str, str]:
    """Give a schedule a rule with past slots, and return a period that has three of them."""
    now = SystemClock().now().replace(microsecond=0, second=0, minute=0)
    app.schedule("charge").disable()
    app.schedule("charge").edit(every="1 day", anchor=str(now - timedelta(days=60)))
    app.schedule("charge").enable()
    start, end = now - timedelta(days=3), now - timedelta(days=1)
    return {"target": "charge", "from": start.isoformat(), "to": end.isoformat()}


def test_a_backfill_shows_its_slots_and_runs_them(
    app: Sempre, client: Client, period: dict[str, str]
) -> None:
    browser = client("operator")
    assert browser.get(FORM, params={"target": "charge"}).status_code == 200

    shown = browser.post(PREVIEW, data=period)

    assert shown.status_code == 200
    assert "3 slots would run" in shown.text
    assert not list(app.executions(kind="backfill"))

    answer = browser.post(FORM, data=fields_of(shown.text) | {"why": "lost days"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/schedules/charge")
    assert len(list(app.executions(kind="backfill"))) == 3
    action = next(app.actions())
    assert (action.verb, action.actor, action.note) == ("backfill", "ann", "lost days")
    assert "3 slots will run, one at a time" in browser.get("/schedules/charge").text


def test_a_backfill_that_lost_a_race_runs_nothing(
    app: Sempre, client: Client, period: dict[str, str]
) -> None:
    browser = client()
    shown = browser.post(PREVIEW, data=period)
    app.schedule("charge").backfill(period["from"], period["from"])

    lost = browser.post(FORM, data=fields_of(shown.text))

    assert lost.status_code == 409
    assert "the store has moved on" in lost.text
    assert "2 slots would run" in lost.text
    assert len(list(app.executions(kind="backfill"))) == 1
    assert browser.post(FORM, data=fields_of(lost.text)).status_code == 303
    assert len(list(app.executions(kind="backfill"))) == 3


def test_slots_before_retention_are_left_out_unless_they_are_asked_for(
    client: Client, period: dict[str, str]
) -> None:
    browser = client()
    long = period | {"from": (SystemClock().now() - timedelta(days=40)).isoformat()}

    page = browser.post(PREVIEW, data=long).text
    assert "slots lie before" in page
    few = page.count("Why it did not run")
    all_of_them = browser.post(PREVIEW, data=long | {"assume_not_run": "yes"}).text

    assert "slots lie before" not in all_of_them
    assert all_of_them.count("Why it did not run") > few
    assert fields_of(all_of_them)["assume_not_run"] == "yes"


@pytest.mark.parametrize(
    ("field", "text"), [("from", "when?"), ("to", NASTY), ("from", ""), ("to", "2001-01-01T00:00Z")]
)
def test_a_bad_period_is_told_next_to_its_field(
    client: Client, period: dict[str, str], field: str, text: str
) -> None:
    answer = client().post(PREVIEW, data=period | {field: text})

    assert answer.status_code == 400
    assert f'id="e-{field}"' in answer.text
    assert NASTY not in answer.text


def test_a_paused_schedule_is_not_backfilled(
    app: Sempre, client: Client, period: dict[str, str]
) -> None:
    browser = client()
    shown = browser.post(PREVIEW, data=period)
    app.schedule("charge").pause()

    for path in (PREVIEW, FORM):
        answer = browser.post(path, data=fields_of(shown.text))
        assert answer.status_code == 409
        assert "disabled or paused" in answer.text
    assert not list(app.executions(kind="backfill"))


def test_a_visitor_who_may_only_read_backfills_nothing(
    client: Client, period: dict[str, str]
) -> None:
    browser = client("read")

    assert browser.get(FORM, params={"target": "charge"}).status_code == 403
    assert browser.post(FORM, data=period).status_code == 403
    assert "Backfill…" not in browser.get("/schedules/charge").text


def test_a_period_without_such_slots_offers_another(app: Sempre, client: Client) -> None:
    instant = datetime(2020, 1, 1, tzinfo=UTC).isoformat()
    fields = {"target": "nightly", "from": instant, "to": instant, "assume_not_run": "yes"}

    answer = client().post(PREVIEW, data=fields)

    assert answer.status_code == 200
    assert "Nothing to run" in answer.text
    assert not list(app.executions(kind="backfill"))
