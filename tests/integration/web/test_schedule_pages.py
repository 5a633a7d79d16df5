"""The pages of a schedule, a slot and an execution tell their history, their changes and why."""

from datetime import timedelta

from sempre import Every, Sempre
from sempre.clock import SystemClock
from tests.integration.web.conftest import NASTY, Client

YEAR = 365


def test_an_execution_tells_why_it_exists_and_how_it_ended(app: Sempre, client: Client) -> None:
    [failed, *_] = app.executions(state="failed")

    page = client().get(f"/executions/{failed.id}").text

    assert '<ol class="reasons">' in page
    assert "Attempt 1" in page
    assert NASTY not in page
    assert "hunter2" not in page


def test_a_slot_without_an_execution_tells_why(app: Sempre, client: Client) -> None:
    slot = app.schedule("nightly").next_run_at_times(count=5)[-1]

    page = client("read").get("/schedules/nightly/why", params={"at": slot.isoformat()})

    assert page.status_code == 200
    assert "is still to come and will run" in page.text
    assert '<ol class="reasons' in page.text


def test_a_time_that_the_clocks_skip_is_explained(client: Client) -> None:
    page = client().get("/schedules/nightly/why", params={"at": "2027-03-28T02:30"}).text

    assert "the clocks of Europe/Rome skip" in page


def test_a_time_that_cannot_be_read_is_told_next_to_its_field(client: Client) -> None:
    answer = client().get("/schedules/nightly/why", params={"at": NASTY})

    assert answer.status_code == 400
    assert 'id="at-error"' in answer.text
    assert NASTY not in answer.text


def test_a_slot_of_an_unknown_schedule_is_not_found(client: Client) -> None:
    browser = client()

    assert browser.get("/schedules/nightli/why").status_code == 404
    at = {"at": "2027-01-01T00:00Z"}
    assert browser.get("/schedules/nightli/why", params=at).status_code == 404


def test_a_schedule_whose_name_ends_in_why_has_its_page(app: Sempre, client: Client) -> None:
    @app.job
    def asked() -> None: ...

    app.create_schedules([("nightly/why", Every("1h"), asked)])

    page = client().get("/schedules/nightly/why")

    assert page.status_code == 200
    assert "Definition and policy" in page.text


def test_a_year_and_the_trends_are_drawn(client: Client) -> None:
    page = client().get("/schedules/charge").text

    assert page.count("<svg") > 3
    assert page.count("<title>20") >= YEAR
    assert "runs, 1 failed" in page or " failed, 0 missed" in page
    assert "Duration" in page
    assert "Lateness" in page
    refreshed = client().get("/schedules/charge", params={"charts": "none"}).text
    assert "The last year" not in refreshed
    assert 'name="next" value="/schedules/charge"' in refreshed
    assert 'name="next" value="/schedules/charge?charts' not in refreshed.partition("<main")[2]


def test_a_schedule_without_history_has_no_drawings(client: Client) -> None:
    assert "The last year" not in client().get("/schedules/nightly").text


def test_an_edit_is_shown_against_the_code_and_among_the_changes(
    app: Sempre, client: Client
) -> None:
    assert "The store is as declared." in client().get("/schedules/nightly").text
    app.schedule("nightly").edit(queue="slow", note=NASTY, why=f"why {NASTY}")

    page = client().get("/schedules/nightly").text

    assert "an operator&#39;s edit; a deploy keeps it" in page
    assert "<del>default</del>" in page
    assert "<ins>slow</ins>" in page
    assert NASTY not in page


def test_secret_arguments_stay_masked_among_the_changes(app: Sempre, client: Client) -> None:
    app.schedule("charge").edit(args={"note": "x", "api_key": "another-s3cr3t"})

    page = client().get("/schedules/charge").text

    assert "another-s3cr3t" not in page
    assert "s3cr3t-value" not in page


def test_a_given_slot_is_skipped_and_taken_back(app: Sempre, client: Client) -> None:
    browser = client("operator")
    slot = app.schedule("nightly").next_run_at_times(count=3)[-1]
    assert slot.isoformat() in browser.get("/schedules/nightly").text
    fields = {"target": "nightly", "at": slot.isoformat(), "next": "/schedules/nightly"}

    assert browser.post("/acts/schedules/skip", data=fields).status_code == 303
    page = browser.get("/schedules/nightly").text
    assert "Skipped:" in page
    assert "Unskip" in page
    [action, *_] = app.actions(target="schedule:nightly")
    assert (action.verb, action.actor) == ("skip", "ann")

    assert browser.post("/acts/schedules/unskip", data=fields).status_code == 303
    assert "Skipped:" not in browser.get("/schedules/nightly").text
    assert browser.post("/acts/schedules/unskip", data=fields).status_code == 409


def test_a_time_that_is_no_slot_is_not_skipped(app: Sempre, client: Client) -> None:
    instant = (SystemClock().now() + timedelta(days=2)).replace(minute=7, second=3)
    fields = {"target": "nightly", "at": instant.isoformat()}

    answer = client().post("/acts/schedules/skip", data=fields)

    assert answer.status_code in (400, 409)
    assert not list(app.actions(target="schedule:nightly", verb="skip"))


def test_the_form_of_a_skip_asks_for_the_slot(client: Client) -> None:
    page = client().get("/acts/schedules/skip", params={"target": "nightly"}).text

    assert 'name="at"' in page
    assert "empty: the next one" in page


def test_a_visitor_who_may_only_read_is_offered_no_act(client: Client) -> None:
    page = client("read").get("/schedules/nightly").text

    assert 'method="post"' not in page
