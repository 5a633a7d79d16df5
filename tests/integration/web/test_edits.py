"""An edit shows its plan of 90 days first; what was shown is what is saved, or nothing is."""

import html
import re

import pytest
from starlette.testclient import TestClient

from sempre import Sempre
from tests.integration.web.conftest import NASTY, Client

FORM = "/acts/schedules/edit"
PREVIEW = f"{FORM}/preview"


def fields_of(page: str) -> dict[str, str]:
    """Return what a browser would send: hidden and visible fields, texts and chosen options."""
    found = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name, value = (re.search(rf' {word}="([^"]*)"', tag) for word in ("name", "value"))
        if name and name[1] not in ("q", "next"):
            found[name[1]] = html.unescape(value[1]) if value else ""
    for name, text in re.findall(
        r'<textarea [^>]*name="(\w+)"[^>]*>(.*?)</textarea>', page, re.DOTALL
    ):
        found[name] = html.unescape(text).replace("\n", "\r\n")
    for name, options in re.findall(
        r'<select id="f-\w+" name="(\w+)">(.*?)</select>', page, re.DOTALL
    ):
        chosen = re.search(r"<option selected>(\w+)", options)
        found[name] = chosen[1] if chosen else ""
    return found


def edits(app: Sempre) -> int:
    return len(list(app.actions(verb="edit", actor="ann")))


def form_of(browser: TestClient, name: str) -> dict[str, str]:
    page = browser.get(FORM, params={"target": name})
    assert page.status_code == 200
    return fields_of(page.text)


def test_the_form_of_an_unchanged_schedule_changes_nothing(app: Sempre, client: Client) -> None:
    browser = client()
    for name in ("nightly", "charge", "refresh_cache"):
        answer = browser.post(PREVIEW, data=form_of(browser, name))

        assert answer.status_code == 400
        assert "Nothing would change" in answer.text
    assert edits(app) == 0


def test_an_edit_is_shown_before_it_is_saved_and_logged(app: Sempre, client: Client) -> None:
    browser = client()
    fields = form_of(browser, "nightly") | {"cron": "0 5 * * 1", "priority": "7"}

    shown = browser.post(PREVIEW, data=fields)

    assert shown.status_code == 200
    assert "30 2 * * *" in shown.text
    assert "0 5 * * 1" in shown.text
    assert "vanish" in shown.text
    assert "replaced" in shown.text or "superseded" in shown.text
    assert edits(app) == 0

    saved = browser.post(FORM, data=fields_of(shown.text) | {"why": "less often"})

    assert (saved.status_code, saved.headers["location"]) == (303, "/schedules/nightly")
    definition = app.schedule("nightly").definition
    assert definition.priority == 7
    assert definition.grid.parameters()["text"] == "0 5 * * 1"
    assert definition.grid.parameters()["timezone"] == "Europe/Rome"
    action = next(app.actions())
    assert (action.verb, action.actor, action.note) == ("edit", "ann", "less often")


def test_an_edit_that_lost_a_race_changes_nothing_and_shows_why(
    app: Sempre, client: Client
) -> None:
    browser = client()
    shown = browser.post(PREVIEW, data=form_of(browser, "nightly") | {"priority": "7"})
    app.schedule("nightly").edit(queue="slow", why="first")

    lost = browser.post(FORM, data=fields_of(shown.text))

    assert lost.status_code == 409
    assert "Nothing was changed: the store has moved on" in lost.text
    assert "edit by" in lost.text
    assert app.schedule("nightly").definition.priority == 1000

    again = browser.post(FORM, data=fields_of(lost.text))

    assert again.status_code == 303
    definition = app.schedule("nightly").definition
    assert (definition.priority, definition.queue) == (7, "slow")


def test_a_preview_that_is_saved_twice_is_saved_once(app: Sempre, client: Client) -> None:
    browser = client()
    fields = fields_of(
        browser.post(PREVIEW, data=form_of(browser, "nightly") | {"priority": "7"}).text
    )

    assert browser.post(FORM, data=fields).status_code == 303
    assert browser.post(FORM, data=fields).status_code == 409
    assert edits(app) == 1


def test_a_saved_form_is_not_another_one_than_was_shown(app: Sempre, client: Client) -> None:
    browser = client()
    shown = browser.post(PREVIEW, data=form_of(browser, "nightly") | {"priority": "7"})

    answer = browser.post(FORM, data=fields_of(shown.text) | {"priority": "8"})

    assert answer.status_code == 409
    assert app.schedule("nightly").definition.priority == 1000


@pytest.mark.parametrize("promise", ["", "{", "[]", '{"base": 1}'])
def test_an_edit_without_a_preview_is_refused(app: Sempre, client: Client, promise: str) -> None:
    browser = client()
    fields = form_of(browser, "nightly") | {"priority": "7", "promise": promise}

    assert browser.post(FORM, data=fields).status_code == 400
    assert edits(app) == 0


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("cron", "75 2 * * *"),
        ("every", "15 parsecs"),
        ("timezone", "Europe/Roma"),
        ("args", "{"),
        ("args", "[1]"),
        ("args", '{"unknown": 1}'),
        ("priority", "soon"),
        ("retry", "-1"),
        ("timeout", "x"),
        ("jitter", NASTY),
        ("deadline", "0s"),
        ("until", "tomorrow-ish"),
        ("overlap", "replace"),
        ("queue", ""),
        ("cron", ""),
    ],
)
def test_a_bad_value_is_told_next_to_its_field(
    app: Sempre, client: Client, field: str, text: str
) -> None:
    browser = client()
    fields = (
        form_of(browser, "nightly") | {field: text} | ({"cron": ""} if field == "every" else {})
    )

    answer = browser.post(PREVIEW, data=fields)

    assert answer.status_code == 400
    assert f'id="e-{field}"' in answer.text
    assert NASTY not in answer.text
    assert fields_of(answer.text)[field].replace("\r\n", "\n") == text
    assert edits(app) == 0


def test_secret_arguments_are_masked_and_stay_as_they_are(app: Sempre, client: Client) -> None:
    app.schedule("charge").edit(args={"note": NASTY, "api_key": "s3cr3t-value"})
    browser = client()
    page = browser.get(FORM, params={"target": "charge"}).text
    assert "s3cr3t-value" not in page
    assert NASTY not in page
    fields = fields_of(page)
    fields["args"] = fields["args"].replace("alert(1)", "alert(2)")

    shown = browser.post(PREVIEW, data=fields)
    assert "s3cr3t-value" not in shown.text
    assert "<script>alert" not in shown.text
    assert browser.post(FORM, data=fields_of(shown.text)).status_code == 303

    args = app.schedule("charge").definition.args
    assert args == {"note": NASTY.replace("alert(1)", "alert(2)"), "api_key": "s3cr3t-value"}


def test_a_rule_becomes_an_interval_with_its_anchor(app: Sempre, client: Client) -> None:
    browser = client()
    fields = form_of(browser, "nightly")
    fields |= {"cron": "", "every": "1 week", "anchor": "2026-01-05 09:00"}

    shown = browser.post(PREVIEW, data=fields)
    assert browser.post(FORM, data=fields_of(shown.text)).status_code == 303

    assert app.schedule("nightly").is_anchor
    parameters = app.schedule("nightly").definition.grid.parameters()
    assert str(parameters["anchor"]).startswith("2026-01-05T09:00")


def test_the_preview_names_days_on_which_clocks_change(app: Sempre, client: Client) -> None:
    app.schedule("nightly").edit(every="1 day", anchor="2026-01-01 02:30")
    browser = client()
    fields = form_of(browser, "nightly")
    fields |= {"every": "", "cron": "30 2 28 3 *", "until": "2060-01-01T00:00Z"}

    shown = browser.post(PREVIEW, data=fields)

    assert shown.status_code == 200
    assert "Days on which clocks change" in shown.text


def test_waits_between_retries_stay_when_their_number_changes(app: Sempre, client: Client) -> None:
    from sempre import Retry  # noqa: PLC0415 - only here

    app.schedule("nightly").edit(retry=Retry(2, base="3s", cap="9s"))
    browser = client()

    shown = browser.post(PREVIEW, data=form_of(browser, "nightly") | {"retry": "4"})
    browser.post(FORM, data=fields_of(shown.text))

    assert app.schedule("nightly").definition.retry == Retry(4, base="3s", cap="9s")


@pytest.mark.parametrize("role", ["read", "operator"])
def test_only_an_admin_edits(client: Client, role: str) -> None:
    browser = client(role)

    assert browser.get(FORM, params={"target": "nightly"}).status_code == 403
    assert browser.post(PREVIEW, data={"target": "nightly"}).status_code == 403
    assert browser.post(FORM, data={"target": "nightly"}).status_code == 403
    assert "Edit…" not in browser.get("/schedules/nightly").text


def test_an_edit_of_a_schedule_that_is_gone_is_told(app: Sempre, client: Client) -> None:
    browser = client()
    shown = browser.post(PREVIEW, data=form_of(browser, "nightly") | {"priority": "7"})
    app.schedule("nightly").delete()

    assert browser.post(FORM, data=fields_of(shown.text)).status_code == 404
