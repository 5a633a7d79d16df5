"""Who may enter the dashboard, and who may change something: by the tables, for every route."""

import pytest
from starlette.testclient import TestClient

from sempre import Sempre
from sempre.web.acts import ACTS
from sempre.web.roles import Role
from sempre.web.routes import ROUTES, Route
from tests.integration.web.conftest import Client

ROLES = [role.word for role in Role]


def requested(browser: TestClient, route: Route) -> int:
    path = route.path.replace("{name:path}", "charge").replace("{id}", "0000")
    if route.method == "GET":
        return browser.get(path, params={"target": "charge"}).status_code
    body: dict[str, object] = {"target": ["no such target"]}
    json = "/api/" in path
    answer = browser.post(path, json=body) if json else browser.post(path, data=body)
    return answer.status_code


@pytest.mark.parametrize("role", ROLES)
def test_every_route_asks_for_its_role(client: Client, role: str) -> None:
    browser = client(role)
    routes = [route for route in ROUTES if route.role is not None and route.handler != "live"]

    for route in routes:
        assert route.role is not None
        is_allowed = Role[role.upper()] >= route.role
        assert (requested(browser, route) != 403) is is_allowed, (role, route.method, route.path)


def test_the_stream_asks_for_its_role(client: Client) -> None:
    assert client("deny").get("/live").status_code == 403


def test_a_dashboard_without_auth_is_closed_and_says_how_to_open_it(app: Sempre) -> None:
    browser = TestClient(app.dashboard(), headers={"origin": "http://testserver"})

    for route in ROUTES:
        if route.role is not None:
            assert requested(browser, route) == 403, route.path
    assert "app.dashboard(auth=basic(" in browser.get("/").text


def test_a_read_only_dashboard_refuses_every_change(client: Client) -> None:
    browser = client("admin", read_only=True)

    for route in ROUTES:
        if route.method == "POST":
            assert requested(browser, route) == 403, route.path
    assert "read-only" in browser.post("/acts/schedules/run", data={"target": "charge"}).text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://testserver"},
        {"origin": "null"},
    ],
    ids=str,
)
def test_a_form_of_another_site_changes_nothing(
    app: Sempre, client: Client, headers: dict[str, str]
) -> None:
    before = len(list(app.actions()))
    browser = client()

    for act in ACTS:
        for path in (act.path, f"/api/v1{act.path}"):
            answer = browser.post(path, data={"target": "charge", "why": "x"}, headers=headers)
            assert answer.status_code == 403, path

    assert len(list(app.actions())) == before


def test_a_program_without_origin_must_send_json(app: Sempre) -> None:
    browser = TestClient(app.dashboard(auth=lambda _: ("operator", "ci")))
    path, body = "/api/v1/acts/schedules/run", {"target": ["charge"], "why": "from a script"}

    assert browser.post(path, data=body).status_code == 415
    assert browser.post("/acts/schedules/run", data=body).status_code == 403
    answer = browser.post(path, json=body)

    assert answer.status_code == 200
    assert answer.json()["results"][0]["done"] is True


def test_a_change_by_get_is_impossible(app: Sempre, client: Client) -> None:
    before = len(list(app.actions()))

    for act in ACTS:
        client().get(act.path, params={"target": "charge", "why": "x", "to": "y"})
        refused = client().get(f"/api/v1{act.path}")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")

    assert len(list(app.actions())) == before


def test_a_large_form_is_refused(client: Client) -> None:
    answer = client().post("/acts/schedules/run", data={"target": "x" * 300_000})

    assert answer.status_code == 413


def test_a_name_of_another_site_is_not_answered(app: Sempre) -> None:
    from sempre.app.dashboards import make_dashboard  # noqa: PLC0415 - only here

    made = make_dashboard(app, auth=lambda _: "admin", hosts=frozenset({"127.0.0.1"}))

    assert TestClient(made, base_url="http://127.0.0.1:8000").get("/log").status_code == 200
    assert TestClient(made, base_url="http://evil.example:8000").get("/log").status_code == 421


def test_auth_may_be_async_and_challenge_a_browser(app: Sempre) -> None:
    async def auth(_request: object) -> tuple[str, str]:
        return "read", "ann"

    class Asks:
        challenge = 'Basic realm="x"'

        def __call__(self, _request: object) -> str:
            return "deny"

    assert "ann · read" in TestClient(app.dashboard(auth=auth)).get("/log").text
    answer = TestClient(app.dashboard(auth=Asks())).get("/")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Basic realm="x"')


def test_an_auth_that_returns_nonsense_opens_nothing(app: Sempre) -> None:
    answer = TestClient(app.dashboard(auth=lambda _: None)).get("/")

    assert answer.status_code == 400
    assert "charge" not in answer.text


def test_a_form_leads_back_to_the_dashboard_only(client: Client) -> None:
    fields = {"target": "charge", "next": "https://evil.example/"}

    answer = client().post("/acts/schedules/run", data=fields)

    assert answer.headers["location"] == "/schedules"
    assert client().get("/preferences?theme=dark&next=//evil.example").headers["location"] == "/"
