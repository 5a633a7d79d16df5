"""A real browser on a real `sempre dev`: pages, themes, a phone, the keyboard, no script."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tools.servers import environment, locate

PAGES = ("/", "/schedules", "/schedules/heartbeat", "/executions", "/workers", "/switches", "/log")
FORMS = (
    "/settings",
    "/acts/schedules/pause?target=heartbeat",
    "/acts/schedules/edit?target=heartbeat",
    "/acts/schedules/backfill?target=heartbeat",
    "/schedules/heartbeat/why?at=2026-03-29T02:30",
    "/acts/switches/off?target=all",
)
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the example in a folder of its own; return where its dashboard is."""
    folder = tmp_path_factory.mktemp("dev")
    output = folder / "output"
    program = [sys.executable, "-m", "sempre", "dev", str(ROOT / "examples" / "quickstart.py")]
    ours = {"PYTHONPATH": str(ROOT / "src"), "SEMPRE_STORE": "sqlite:///jobs.db"}
    with output.open("wb") as log:
        child = subprocess.Popen(program, cwd=folder, env=os.environ | ours, stderr=log, stdout=log)
    try:
        yield eventually(lambda: _found_url(output), otherwise=output.read_text)
    finally:
        child.kill()
        child.wait()


def _found_url(output: Path) -> str:
    found = re.search(r"dashboard at (\S+)", output.read_text())
    return found[1] if found else ""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = locate("chromium")
    assert path is not None, "run `make servers`"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=os.environ.get("SEMPRE_CHROMIUM", str(path)),
            args=["--no-sandbox"],
            env={**environment()},
        )
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[Open]:
    """Return a maker of pages; at the end no page may have complained or asked another server."""
    complaints: list[str] = []
    contexts = []

    def make(path: str, *, width: int = 1280, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console", lambda said: complaints.append(said.text) if _is_bad(said.type) else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda made: None if made.url.startswith(url) else complaints.append(made.url),
        )
        page.goto(f"{url}{path}")
        return page

    yield make
    for each in contexts:
        each.close()
    assert complaints == []


def _is_bad(kind: str) -> bool:
    return kind in ("error", "warning")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_stays_silent(
    open_page: Open, url: str, width: int, scheme: str
) -> None:
    page = open_page("/", width=width, color_scheme=scheme)

    for path in (*PAGES, *FORMS):
        page.goto(f"{url}{path}")
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wider) <= 0, path
        assert page.locator("h1").count() == 1, path
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(16, 21, 19)") is (scheme == "dark")


def test_a_page_follows_the_store_without_a_reload(open_page: Open) -> None:
    page = open_page("/executions")
    page.evaluate("window.isTheSamePage = true")
    first = page.locator("[data-row]").first.get_attribute("data-href")

    page.wait_for_function(
        "first => document.querySelector('[data-row]')?.dataset.href !== first", arg=first
    )

    assert page.evaluate("window.isTheSamePage") is True
    assert page.locator("[data-live-word]").inner_text() == "Live"
    page.keyboard.press("l")
    assert page.locator("[data-live-word]").inner_text() == "Paused"


def test_the_keyboard_reaches_everything(open_page: Open) -> None:
    page = open_page("/schedules")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("x")
    assert page.locator("tr.at").count() == 1
    assert page.locator("[data-count]").inner_text() == "1 selected:"
    page.keyboard.press("x")
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("heart")
    page.keyboard.press("Enter")
    page.wait_for_url("**/schedules?q=heart")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/schedules/heartbeat")
    page.keyboard.press("g")
    page.keyboard.press("w")
    page.wait_for_url("**/workers")


def test_a_theme_and_a_zone_are_remembered(open_page: Open, url: str) -> None:
    page = open_page("/schedules", color_scheme="light", timezone_id="Asia/Tokyo")

    page.get_by_title("Dark", exact=True).click()
    page.locator("[data-zone]").select_option("Asia/Tokyo")
    page.wait_for_function("document.body.textContent.includes('times in Asia/Tokyo')")
    page.goto(f"{url}/log")

    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert "times in Asia/Tokyo" in page.locator("footer").inner_text()


def test_a_schedule_is_paused_and_resumed_without_scripts(open_page: Open) -> None:
    page = open_page("/schedules/month-end", java_script_enabled=False)

    page.get_by_role("link", name="Pause").click()
    page.get_by_label("Reason").fill("migration")
    page.get_by_role("button", name="Pause").click()

    assert "month-end: paused until" in page.locator(".told").inner_text()
    assert "migration" in page.locator(".title-row").inner_text()
    page.get_by_role("button", name="Resume").click()
    assert "month-end: resumed." in page.locator(".told").inner_text()
