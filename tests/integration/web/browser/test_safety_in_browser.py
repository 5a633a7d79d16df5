"""Pages of other sites: their forms, their frames, and their names for this host."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.integration.web.browser.conftest import Site


@pytest.fixture
def other_site(site: Site) -> Iterator[str]:
    """Serve a page with a form and a frame that lead to the dashboard."""
    html = f"""<!doctype html><title>other</title>
    <form method="post" action="{site.url}/acts/schedules/delete">
    <input name="target" value="fails"><button>Win a prize</button></form>
    <iframe src="{site.url}/schedules/fails"></iframe>"""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *words: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_a_form_of_another_site_changes_nothing(page: Page, site: Site, other_site: str) -> None:
    page.goto(other_site)

    with page.expect_response(f"{site.url}/acts/**") as answer:
        page.get_by_role("button").click()

    assert answer.value.status == 403
    found = page.goto(f"{site.url}/schedules/fails")
    assert found is not None
    assert found.status == 200


def test_no_page_is_shown_in_a_frame_of_another_site(
    page: Page, site: Site, other_site: str
) -> None:
    page.goto(other_site)

    assert all(not frame.url.startswith(site.url) for frame in page.frames)


def test_a_script_of_another_site_reads_and_sends_nothing(
    page: Page, site: Site, other_site: str
) -> None:
    page.goto(other_site)
    ask = "([url, how]) => fetch(url, how).then(() => 'answered', () => 'refused')"
    body = {"method": "POST", "body": "{}", "headers": {"content-type": "application/json"}}

    assert page.evaluate(ask, [f"{site.url}/api/v1/schedules", {}]) == "refused"
    assert page.evaluate(ask, [f"{site.url}/api/v1/acts/schedules/delete", body]) == "refused"


def test_another_name_for_this_host_is_refused(page: Page, site: Site) -> None:
    address = urlsplit(site.url)

    answer = page.request.get(
        f"{site.url}/schedules", headers={"host": f"evil.example:{address.port}"}
    )

    assert answer.status in (400, 403, 421)
    assert "fails" not in answer.text()
