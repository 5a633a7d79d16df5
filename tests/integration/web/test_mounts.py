"""The dashboard below a path of Starlette, Flask and Django, over HTTP."""

import json
import subprocess
import sys
from pathlib import Path

from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client as WsgiClient

from sempre import Sempre
from tests.architecture.source import ROOT


def test_a_dashboard_is_mounted_in_starlette(app: Sempre) -> None:
    host = Starlette(routes=[Mount("/jobs", app.dashboard(auth=lambda _: "read", title="staging"))])

    text = TestClient(host).get("/jobs/").text

    assert 'href="/jobs/schedules"' in text
    assert 'data-live="stream" data-stream="/jobs/live"' in text
    assert TestClient(host).get("/jobs/schedules/charge").status_code == 200


def test_a_dashboard_is_mounted_in_flask_and_polls(app: Sempre) -> None:
    flask = Flask("host")
    made = app.dashboard_wsgi(auth=lambda _: ("admin", "ann"))
    flask.wsgi_app = DispatcherMiddleware(flask.wsgi_app, {"/jobs": made})  # type: ignore[method-assign]
    browser = WsgiClient(flask)

    answer = browser.get("/jobs/")

    assert answer.status_code == 200
    assert 'data-live="poll"' in answer.text
    assert 'href="/jobs/schedules"' in answer.text
    assert browser.get("/jobs/schedules/charge").status_code == 200
    headers = {"origin": "http://localhost"}
    fields = {"target": "charge", "next": "/jobs/schedules/charge"}
    done = browser.post("/jobs/acts/schedules/pause", data=fields, headers=headers)
    assert (done.status_code, done.headers["location"]) == (303, "/jobs/schedules/charge")
    assert app.schedule("charge").row.pause is not None


def test_a_dashboard_is_mounted_in_django_and_asks_its_session(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.integration.web.django_program", str(tmp_path)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    for kind in ("asgi", "wsgi"):
        assert answers[kind] == {
            "root": [200, "admin"],
            "staff": [200, "operator"],
            "user": [403, ""],
            "gone": [403, ""],
            "stranger": [403, ""],
            "django": 404,
        }


def test_a_dashboard_is_mounted_in_fastapi_with_its_own_api(app: Sempre) -> None:
    host = FastAPI()
    host.mount("/jobs", app.dashboard(auth=lambda _: ("operator", "ci")))
    browser = TestClient(host)

    assert 'href="/jobs/schedules"' in browser.get("/jobs/").text
    described = browser.get("/jobs/api/v1/openapi.json").json()
    assert described["servers"] == [{"url": "/jobs"}]
    body = {"target": "charge", "until": "2h"}
    assert browser.post("/jobs/api/v1/acts/schedules/pause", json=body).status_code == 200
    assert app.schedule("charge").row.pause is not None
    missing = browser.get("/jobs/api/v1/nothing")
    assert (missing.status_code, missing.json()["error"]["status"]) == (404, 404)
    assert browser.get("/openapi.json").json()["paths"] == {}
