"""Each act changes the store once, is logged with who and why, and tells what really happened."""

from sempre import Sempre
from tests.integration.web.conftest import Client


def last_action(app: Sempre) -> tuple[str, str, str, str]:
    found = next(app.actions())
    return found.verb, found.target, found.actor, found.note


def test_a_pause_is_logged_with_who_and_why(app: Sempre, client: Client) -> None:
    fields = {"target": "charge", "until": "2h", "why": "incident 42", "next": "/schedules/charge"}

    answer = client().post("/acts/schedules/pause", data=fields)

    assert (answer.status_code, answer.headers["location"]) == (303, "/schedules/charge")
    pause = app.schedule("charge").row.pause
    assert pause is not None
    assert (pause.note, pause.actor) == ("incident 42", "ann")
    assert last_action(app) == ("pause", "schedule:charge", "ann", "incident 42")


def test_the_next_page_tells_once_what_was_done(client: Client) -> None:
    browser = client()

    browser.post("/acts/schedules/pause", data={"target": "charge"})

    assert "charge: paused until an operator resumes it." in browser.get("/schedules").text
    assert "charge: paused until an operator resumes it." not in browser.get("/schedules").text


def test_an_act_that_changed_nothing_says_so(client: Client) -> None:
    answer = client().post("/acts/schedules/resume", data={"target": "charge"})

    assert answer.status_code == 409
    assert "nothing changed: it was not paused" in answer.text


def test_many_schedules_are_paused_and_resumed_at_once(app: Sempre, client: Client) -> None:
    names = ["charge", "refresh_cache"]
    browser = client()

    assert (
        "Pause 2 schedules" in browser.get("/acts/schedules/pause", params={"target": names}).text
    )
    answer = browser.post("/acts/schedules/pause", data={"target": names, "why": "quiet"})

    assert answer.status_code == 303
    assert all(app.schedule(name).row.pause for name in names)
    lost = browser.post("/acts/schedules/resume", data={"target": [*names, "nightly", "gone"]})
    assert lost.status_code == 409
    assert "2 of 4 done" in lost.text
    assert not any(app.schedule(name).row.pause for name in names)


def test_run_now_enqueues_a_manual_run(app: Sempre, client: Client) -> None:
    client().post("/acts/schedules/run", data={"target": "charge", "why": "now"})

    assert [row.actor for row in app.executions(kind="manual", state="scheduled")] == ["ann"]


def test_the_next_slot_is_skipped_and_restored(app: Sempre, client: Client) -> None:
    slot = app.schedule("nightly").row.next_run_at
    assert slot is not None
    client().post("/acts/schedules/skip", data={"target": "nightly"})

    assert app.schedule("nightly").row.next_run_at != slot
    assert "Unskip" in client().get("/schedules/nightly").text

    client().post("/acts/schedules/unskip", data={"target": "nightly", "at": slot.isoformat()})

    assert app.schedule("nightly").row.next_run_at == slot


def test_a_failed_execution_is_retried_cancelled_and_another_discarded(
    app: Sempre, client: Client
) -> None:
    browser = client()
    failed = app.executions(state="failed").first(1)[0]

    browser.post("/acts/executions/discard", data={"target": failed.id, "why": "known"})
    assert app.execution(failed.id).row.state == "cancelled"
    browser.post("/acts/executions/retry", data={"target": failed.id})
    assert app.execution(failed.id).row.is_live
    browser.post("/acts/executions/cancel", data={"target": failed.id})
    assert app.execution(failed.id).row.state == "cancelled"

    lost = browser.post("/acts/executions/discard", data={"target": failed.id})
    assert lost.status_code == 409


def test_a_schedule_is_disabled_enabled_renamed_and_deleted(app: Sempre, client: Client) -> None:
    browser = client()

    browser.post("/acts/schedules/disable", data={"target": "charge"})
    assert not app.schedule("charge").definition.enabled
    browser.post("/acts/schedules/enable", data={"target": "charge"})
    assert app.schedule("charge").definition.enabled

    refused = browser.post("/acts/schedules/rename", data={"target": "charge", "to": "bill"})
    assert refused.status_code == 409
    assert "0 of 1 done" in refused.text
    assert app.schedule("charge").definition.job == "charge"
    gone = browser.post(
        "/acts/schedules/delete", data={"target": "charge", "next": "/schedules/charge"}
    )
    assert gone.headers["location"] == "/schedules"
    assert browser.get("/schedules/charge").status_code == 404
    assert browser.post("/acts/schedules/delete", data={"target": "charge"}).status_code == 404


def test_a_switch_goes_off_with_a_reason_and_on_again(app: Sempre, client: Client) -> None:
    browser = client()

    assert browser.post("/acts/switches/off", data={"target": "tag:billing"}).status_code == 400
    fields = {"target": "tag:billing", "why": "the bank is down", "mode": "reject", "until": "1h"}
    browser.post("/acts/switches/off", data=fields)

    state = app.switch("tag:billing").state
    assert state is not None
    assert (state.reason, state.actor, state.mode) == ("the bank is down", "ann", "reject")
    text = browser.get("/switches").text
    assert "the bank is down" in text
    assert "stopped by the switch tag:billing" in browser.get("/schedules/charge").text
    browser.post("/acts/switches/on", data={"target": "tag:billing"})
    assert not app.switch("tag:billing").is_off


def test_nothing_selected_is_told_before_anything_is_done(client: Client) -> None:
    assert "Nothing is selected" in client().get("/acts/schedules/pause").text
    assert client().post("/acts/schedules/pause").status_code == 400


def test_an_act_by_the_api_answers_for_each_target(client: Client) -> None:
    body = {"target": ["charge", "nightly"], "why": "from a script"}

    answer = client("operator").post("/api/v1/acts/schedules/pause", json=body)

    assert answer.status_code == 200
    assert answer.json()["act"] == "schedules.pause"
    assert [each["done"] for each in answer.json()["results"]] == [True, True]
    again = client("operator").post("/api/v1/acts/schedules/pause", json=body)
    assert again.status_code == 409
    assert client().post("/api/v1/acts/schedules/pause", json=["x"]).status_code == 400
