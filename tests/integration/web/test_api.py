"""Each operation of the JSON API over HTTP; every answer is checked by the description."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from sempre import Sempre
from sempre.web.acts import ACTS
from tests.integration.web.conftest import Client

Ask = Callable[..., Any]
API = "/api/v1"


@pytest.fixture
def ask(client: Client) -> Ask:
    """Return a function that asks the API, and checks the answer by the description."""
    browser = client()
    document = browser.get(f"{API}/openapi.json").json()
    patterns = {re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(p)): p for p in document["paths"]}

    def request(path: str, status: int = 200, *, body: object = None, **query: Any) -> Any:  # noqa: ANN401 - JSON
        method = "get" if body is None else "post"
        known = next(p for pattern, p in patterns.items() if re.fullmatch(pattern, API + path))
        if body is None:
            answer = browser.get(API + path, params=query)
        else:
            answer = browser.post(API + path, json=body)
        assert answer.status_code == status, answer.text
        told = document["paths"][known][method]["responses"][str(status)]
        schema = told["content"]["application/json"]["schema"]
        shapes = {"components": document["components"], **schema}
        Draft202012Validator(shapes).validate(answer.json())
        return answer.json()

    return request


def failed_id(app: Sempre) -> str:
    return app.executions(state="failed").first(1)[0].id


# Reads


def test_every_read_without_input_is_answered(ask: Ask) -> None:
    assert ask("/status")["schedules"] == 3
    assert [each["name"] for each in ask("/schedules")["schedules"]] == [
        "charge",
        "nightly",
        "refresh_cache",
    ]
    assert len(ask("/executions")["executions"]) >= 2
    assert ask("/pairs")["pairs"] == []
    assert "queues" in ask("/workers")
    assert ask("/queues")["queues"]
    assert ask("/switches")["switches"] == []
    assert ask("/log")["actions"]
    assert ask("/healing")["actions"] == []
    assert "store" in {each["name"] for each in ask("/settings")["settings"]}


def test_one_schedule_and_one_execution_are_shown_without_secrets(app: Sempre, ask: Ask) -> None:
    app.schedule("charge").edit(args={"note": "x", "api_key": "s3cr3t-value"})
    identity = failed_id(app)

    texts = [
        json.dumps(ask("/log")),
        json.dumps(ask("/executions", state="scheduled")),
        json.dumps(ask("/schedules/charge")),
        json.dumps(ask(f"/executions/{identity}")),
        json.dumps(ask(f"/executions/{identity}/log")),
        json.dumps(ask("/why", execution=identity)),
    ]

    for text in texts:
        assert "s3cr3t-value" not in text
        assert "hunter2" not in text
    assert "api_key" in "".join(texts)


def test_the_log_of_an_execution_is_chosen_by_attempt(app: Sempre, ask: Ask) -> None:
    identity = app.executions(state="succeeded", job="refresh_cache").first(1)[0].id

    [log] = ask(f"/executions/{identity}/log", attempt=1)["logs"]

    assert "attempt" in log
    assert ask(f"/executions/{identity}/log", 404, attempt=9)["error"]["status"] == 404


def test_the_next_slots_of_all_schedules_come_in_order(ask: Ask) -> None:
    found = ask("/next", limit=20)["next"]
    nightly = ask("/next", schedule="nightly", since="2027-03-28", until="2027-03-30")["next"]

    assert [each["run_at"] for each in found] == sorted(each["run_at"] for each in found)
    # The clocks skip 02:30 on this night: the slot runs when they have jumped.
    assert [each["run_at"] for each in nightly] == ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]


def test_a_slot_is_explained_by_schedule_and_time(ask: Ask) -> None:
    found = ask("/why", schedule="nightly", at="2027-03-28T02:30")["why"]

    assert (found["name"], found["zone"]) == ("nightly", "Europe/Rome")
    assert found["causes"]
    for query in ({}, {"schedule": "nightly"}, {"execution": "x", "schedule": "nightly"}):
        assert "allowed" in ask("/why", 400, **query)["error"]


def test_a_statement_lists_schedules_up_to_its_limit(app: Sempre, ask: Ask) -> None:
    month = f"{app.engine.present():%Y-%m}"

    whole = ask("/statement", month=month)
    part = ask("/statement", month=month, limit=1)

    assert len(whole["statement"]["schedules"]) == 3
    assert part["left_out"] == 2
    assert part["statement"]["totals"]["demanded"] == whole["statement"]["totals"]["demanded"]
    assert ask("/statement", 400)["error"]["field"] == "month"


def test_a_forecast_is_answered_for_a_zone_and_a_tag(ask: Ask) -> None:
    found = ask("/forecast", **{"for": "1d"}, tz="Europe/Rome", tag="billing", capacity=2)

    assert (found["timezone"], found["schedules"], found["capacity"]) == ("Europe/Rome", 1, 2)


@pytest.mark.parametrize("path", ["/executions", "/log", "/schedules"])
def test_lists_are_paged_by_key(ask: Ask, path: str) -> None:
    whole = ask(path)
    name = next(key for key, value in whole.items() if isinstance(value, list))
    found, after = [], ""
    while True:
        page = ask(path, limit=1, after=after)
        found += page[name]
        after = page["after"]
        if after is None:
            break

    ids = [each.get("id", each.get("name")) for each in found]
    assert ids == [each.get("id", each.get("name")) for each in whole[name]]


# Changes


def test_every_act_has_an_operation_and_tells_its_effect(ask: Ask) -> None:
    fields = {"unskip": {"at": "2027-01-01T00:00Z"}, "rename": {"to": "x"}, "off": {"why": "x"}}
    for act in ACTS:
        body = {"target": "nothing-like-it", **fields.get(act.verb, {})}
        status = 400 if act.kind == "switches" else 404
        assert ask(act.path, status, body=body)["error"]["message"]


def test_an_act_on_many_targets_tells_each_effect(ask: Ask) -> None:
    path = "/acts/schedules/pause"

    done = ask(path, body={"target": ["charge", "nightly"], "until": "2h", "why": "quiet"})
    lost = ask(path, 409, body={"target": ["refresh_cache", "gone"]})

    assert [each["done"] for each in done["results"]] == [True, True]
    assert [each["done"] for each in lost["results"]] == [True, False]
    assert ask("/log", verb="pause", limit=1)["actions"][0]["actor"] == "ann"


def test_a_plan_writes_nothing_and_its_token_applies_it(app: Sempre, ask: Ask) -> None:
    asked = {"verb": "edit", "target": "nightly", "changes": {"cron": "0 5 * * *"}, "why": "later"}

    planned = ask("/plan", body=asked)
    assert app.schedule("nightly").row.revision == planned["plan"]["steps"][0]["revision"]["before"]
    applied = ask("/apply", body={**asked, "token": planned["token"]})

    assert [(each["name"], each["done"]) for each in applied["applied"]] == [("nightly", True)]
    assert "05:00" in app.schedule("nightly").definition.grid.explain()
    assert next(app.actions()).note == "later"


def test_a_plan_of_a_store_that_moved_on_is_refused(app: Sempre, ask: Ask) -> None:
    asked = {"verb": "disable", "target": ["charge", "nightly"]}
    token = ask("/plan", body=asked)["token"]
    app.schedule("nightly").edit(note="changed meanwhile")

    refused = ask("/apply", 409, body={**asked, "token": token})

    assert "out of date" in refused["error"]["message"]
    assert app.schedule("charge").definition.enabled
    other = {"verb": "delete", "target": ["charge", "nightly"]}
    assert ask("/apply", 409, body={**other, "token": ask("/plan", body=asked)["token"]})


def test_a_plan_shows_no_secret(ask: Ask) -> None:
    changes = {"args": {"note": "x", "api_key": "another-s3cr3t"}}

    planned = ask("/plan", body={"verb": "edit", "target": "charge", "changes": changes})

    text = json.dumps(planned)
    assert "another-s3cr3t" not in text
    assert "s3cr3t-value" not in text


@pytest.mark.parametrize("verb", ["pause", "resume", "enable", "disable", "delete", "skip"])
def test_every_verb_is_planned(ask: Ask, verb: str) -> None:
    planned = ask("/plan", body={"verb": verb, "target": "nightly"})["plan"]

    assert len(planned["steps"]) + len(planned["unchanged"]) == 1


def test_a_switch_is_previewed_and_stays_on(app: Sempre, ask: Ask) -> None:
    found = ask("/plan/switch", body={"target": "tag:billing", "mode": "reject"})["switch"]

    assert [each["name"] for each in found["schedules"]] == ["charge"]
    assert not app.switch("tag:billing").is_off


def test_a_whole_number_may_be_written_with_a_point(ask: Ask) -> None:
    body = {"target": "tag:billing", "listed": 255.0, "days": 7.0}

    assert ask("/plan/switch", body=body)["switch"]["schedules"]
    assert ask("/plan/switch", 400, body={**body, "days": 7.5})["error"]["field"] == "days"


def test_a_backfill_lists_slots_first_and_then_runs_them(app: Sempre, ask: Ask) -> None:
    ran = app.executions(state="failed").first(1)[0]
    slot = ran.run_at.replace(microsecond=0, second=0, minute=0).isoformat()
    asked = {"schedule": "charge", "from": slot, "to": slot}

    listed = ask("/backfill", body={**asked, "dry_run": True})
    assert listed["executions"] == []
    assert list(app.executions(kind="backfill")) == []
    done = ask("/backfill", body={**asked, "why": "again"})

    assert done["slots"] == listed["slots"]
    assert len(done["executions"]) == len(listed["slots"])
    long = {"schedule": "charge", "from": "2020-01-01", "to": "2026-01-01", "most": 100}
    assert "more than 100 slots" in ask("/backfill", 409, body=long)["error"]["message"]


def test_a_job_is_enqueued_by_name_with_arguments(app: Sempre, ask: Ask) -> None:
    body = {"job": "charge", "args": {"note": "by hand"}, "in": "10m", "why": "asked by phone"}

    answer = ask("/enqueue", body=body)

    row = app.execution(answer["id"]).row
    assert (row.actor, dict(row.snapshot.args)) == ("ann", {"note": "by hand"})
    missing = ask("/enqueue", 404, body={"job": "charg"})
    assert "Did you mean charge?" in missing["error"]["message"]


# Failures


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/schedules", {"limit": "501"}, "limit"),
        ("/schedules", {"limit": "many"}, "limit"),
        ("/schedules", {"stat": "ok"}, "query"),
        ("/schedules", {"state": "okay"}, "state"),
        ("/schedules", {"q": ["a", "b"]}, "q"),
        ("/executions", {"since": "soon"}, "since"),
        ("/executions", {"after": "nonsense"}, "after"),
        ("/executions", {"tz": "Mars/Base"}, "timezone"),
        ("/statement", {"month": "2026-13"}, "month"),
        ("/forecast", {"for": "400d"}, "for"),
        ("/why", {"schedule": "nightly", "at": "noon"}, "at"),
    ],
)
def test_a_wrong_parameter_is_named(
    ask: Ask, path: str, query: dict[str, object], field: str
) -> None:
    error = ask(path, 400, **query)["error"]

    assert error["field"] == field
    assert error["remedy"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "target"),
        ({"target": []}, "target"),
        ({"target": ["charge"] * 501}, "target"),
        ({"target": [7]}, "target[0]"),
        ({"target": "charge", "untill": "2h"}, "body"),
        ({"target": "charge", "until": None}, "until"),
        ({"target": "a\0b"}, "target"),
    ],
)
def test_a_wrong_field_of_a_body_is_named(ask: Ask, body: object, field: str) -> None:
    assert ask("/acts/schedules/pause", 400, body=body)["error"]["field"] == field


def test_a_missing_name_has_the_nearest_one(ask: Ask) -> None:
    for path, query in (
        ("/schedules/charg", {}),
        ("/next", {"schedule": "charg"}),
        ("/executions", {"schedule": "charg"}),
    ):
        assert "Did you mean charge?" in ask(path, 404, **query)["error"]["message"]


def test_bodies_that_are_no_json_objects_are_refused(client: Client) -> None:
    browser, path = client(), f"{API}/acts/schedules/pause"
    as_json = {"content-type": "application/json"}

    assert browser.post(path, data={"target": "charge"}).status_code == 415
    for content in ("", "[]", "{", '{"target": ' + "[" * 100_000, "9" * 5000, b"\xff"):
        assert browser.post(path, content=content, headers=as_json).status_code == 400
    assert browser.post(path, content="x" * 300_000, headers=as_json).status_code == 413
    many = "&".join(f"a{number}=1" for number in range(3000))
    assert browser.get(f"{API}/schedules?{many}").status_code == 400


def test_who_is_unknown_is_asked_to_log_in(app: Sempre) -> None:
    from sempre.web import bearer  # noqa: PLC0415 - only here

    token = "0123456789-0123456789"  # noqa: S105 - of this test
    browser = TestClient(app.dashboard(auth=bearer({"ci": ("read", token)})))

    refused = browser.get(f"{API}/status")
    assert (refused.status_code, refused.json()["error"]["status"]) == (401, 401)
    assert refused.headers["www-authenticate"].startswith("Bearer")
    known = {"authorization": f"Bearer {token}"}
    assert browser.get(f"{API}/status", headers=known).status_code == 200
    body = {"target": "charge"}
    low = browser.post(f"{API}/acts/schedules/run", json=body, headers=known)
    assert (low.status_code, low.json()["error"]["status"]) == (403, 403)


def test_a_store_that_is_down_is_told_with_when_to_try_again() -> None:
    app = Sempre("redis://127.0.0.1:1/0")
    try:
        answer = TestClient(app.dashboard(auth=lambda _: "read")).get(f"{API}/status")
    finally:
        app.close()

    assert (answer.status_code, answer.json()["error"]["status"]) == (503, 503)
    assert answer.headers["retry-after"] == "5"
