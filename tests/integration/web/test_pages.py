"""Every page on a store with work in it, with hostile texts, in any zone and below any prefix."""

import re

import pytest

from sempre import Sempre
from sempre.web.routes import ROUTES
from tests.integration.web.conftest import NASTY, Client

PAGES = (
    *("/", "/schedules", "/executions", "/workers", "/switches", "/log", "/settings"),
    *("/timeline", "/forecast", "/pairs", "/statement", "/statement?schedule=charge"),
)
READS = ("status", "schedules", "executions", "workers", "switches", "log", "openapi.json")


def pages_of(app: Sempre) -> list[str]:
    failed = app.executions(state="failed").first(1)[0]
    succeeded = app.executions(state="succeeded").first(1)[0]
    single = ["/schedules/charge", f"/executions/{failed.id}", f"/executions/{succeeded.id}"]
    return [*PAGES, *single, "/acts/schedules/pause?target=charge"]


def test_every_page_shows_the_store(app: Sempre, client: Client) -> None:
    for path in pages_of(app):
        answer = client().get(path)

        assert answer.status_code == 200, path
        assert "<h1" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"


def test_hostile_texts_are_shown_as_text(app: Sempre, client: Client) -> None:
    app.switch("job:charge").off(NASTY)
    app.schedule("nightly").pause(note=NASTY)
    nasty = pages_of(app)
    paths = [*nasty, "/schedules/nightly", f"/schedules?q={NASTY}", f"/executions?job={NASTY}"]

    for path in [*paths, f"/acts/schedules/run?target={NASTY}", f"/schedules/{NASTY}"]:
        text = client().get(path).text
        assert "<script>alert" not in text, path

    assert "&lt;script&gt;alert" in client().get(nasty[len(PAGES) + 1]).text


def test_secrets_stay_masked_on_pages_and_in_the_api(app: Sempre, client: Client) -> None:
    failed = app.executions(state="failed").first(1)[0]
    paths = [*pages_of(app), "/schedules/charge", f"/api/v1/executions/{failed.id}"]
    paths += ["/api/v1/executions", "/api/v1/schedules/charge", "/api/v1/status", "/api/v1/log"]

    for path in paths:
        text = client().get(path).text
        assert "s3cr3t-value" not in text, path
        assert "hunter2" not in text, path

    assert "[redacted]" in client().get(f"/executions/{failed.id}").text


def test_every_link_of_a_mounted_dashboard_stays_below_its_prefix(
    app: Sempre, client: Client
) -> None:
    for path in pages_of(app):
        text = client(prefix="/ops/jobs").get(f"/ops/jobs{path}").text
        links = re.findall(
            r'(?:href|src|action|formaction|hx-get|data-stream|data-href)="([^"]+)"', text
        )

        assert links, path
        assert [each for each in links if not each.startswith(("/ops/jobs/", "#"))] == [], path


def test_a_static_file_is_kept_for_a_year(client: Client) -> None:
    [path] = re.findall(r'href="([^"]+\.css)"', client().get("/").text)

    answer = client("deny").get(path)

    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert client().get("/static/000000000000/sempre.css").status_code == 404


def test_times_are_in_one_zone_that_a_visitor_chooses(client: Client) -> None:
    browser = client()

    assert "times in UTC" in browser.get("/schedules").text
    assert "times in Asia/Tokyo" in browser.get("/schedules?tz=Asia/Tokyo").text

    answer = browser.get("/preferences?tz=Europe/Rome&theme=dark&next=/log")

    assert (answer.status_code, answer.headers["location"]) == (303, "/log")
    text = browser.get("/log").text
    assert "times in Europe/Rome" in text
    assert 'data-theme="dark"' in text
    assert browser.get("/preferences?tz=Mars/Base").status_code == 400


def test_filters_are_in_the_url(client: Client) -> None:
    browser = client()

    found = browser.get("/api/v1/schedules?q=char").json()["schedules"]
    tagged = browser.get("/api/v1/schedules?tag=cache").json()["schedules"]
    failing = browser.get("/api/v1/schedules?state=failing").json()["schedules"]
    ordered = browser.get("/api/v1/schedules?sort=next").json()["schedules"]

    assert [each["name"] for each in found] == ["charge"]
    assert [each["name"] for each in tagged] == ["refresh_cache"]
    assert [each["name"] for each in failing] == ["charge"]
    assert len(ordered) == 3
    assert "No schedule matches" in browser.get("/schedules?q=nothing-like-it").text
    assert "No execution matches" in browser.get("/executions?state=cancelled").text


def test_a_list_is_paged_by_key(client: Client) -> None:
    seen: list[str] = []
    after = ""
    while True:
        page = client().get("/api/v1/executions", params={"limit": 1, "after": after}).json()
        seen += [each["id"] for each in page["executions"]]
        after = page["after"]
        if not after:
            break

    assert len(seen) == len(set(seen)) >= 2


def test_a_page_without_scripts_has_forms_for_every_act(client: Client) -> None:
    text = client().get("/schedules/charge").text

    assert 'method="post" action="/acts/schedules/run"' in text
    assert 'href="/acts/schedules/pause?target=charge' in text
    assert 'href="/acts/schedules/delete?target=charge' in text


def test_a_reader_sees_no_button_that_a_reader_may_not_press(app: Sempre, client: Client) -> None:
    for path in pages_of(app)[:-1]:
        assert "/acts/" not in client("read").get(path).text, path
        assert "/acts/" not in client("admin", read_only=True).get(path).text, path


def test_what_is_missing_is_explained(client: Client) -> None:
    browser = client()

    assert browser.get("/nothing").status_code == 404
    missing = browser.get("/schedules/charg")
    assert missing.status_code == 404
    assert "Did you mean" in missing.text
    assert browser.get("/executions/0000").status_code == 404
    assert browser.get("/executions?after=nonsense").status_code == 400
    assert browser.get("/api/v1/schedules/charg").json()["error"]["status"] == 404


@pytest.mark.parametrize("url", ["sqlite:////nowhere/at/all.db", "redis://127.0.0.1:1/0"])
def test_a_store_that_is_down_is_a_friendly_page_that_tries_again(url: str) -> None:
    from starlette.testclient import TestClient  # noqa: PLC0415 - only here

    app = Sempre(url)
    try:
        answer = TestClient(app.dashboard(auth=lambda _: "read")).get("/")
    finally:
        app.close()

    assert answer.status_code == 503
    assert '<meta http-equiv="refresh" content="5">' in answer.text
    assert answer.headers["retry-after"] == "5"


def test_the_api_describes_every_route_it_has(client: Client) -> None:
    described = client(prefix="/jobs").get("/jobs/api/v1/openapi.json").json()
    paths = {route.path.replace(":path", "") for route in ROUTES if "/api/v1/" in route.path}

    assert set(described["paths"]) == paths - {"/api/v1/openapi.json"}
    assert described["servers"] == [{"url": "/jobs"}]
